"""Pictures, which notebooks show and save() writes."""

from __future__ import annotations

import html
import os
import stat
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Callable

from ._errors import InvalidError, UnsupportedError
from ._handles import Record
from ._library import given, lib, take
from ._options import NativeOptions

FORMATS = ("svg", "png", "pdf", "html", "json")

# Gives the bytes of a picture in a format, with more options.
Draw = Callable[[str, Mapping[str, object]], bytes]


class Figure:
    """A picture. A notebook shows it; it is drawn when it is asked for.

    >>> figure = open("en-de").attention("The cat sleeps.").figure(layer=5, word="cat")
    >>> figure.svg[:4]
    '<svg'
    >>> figure.png(scale=1)[1:4]
    b'PNG'
    """

    def __init__(self, draw: Draw, formats: Sequence[str] = FORMATS) -> None:
        self._draw = draw
        self._formats = tuple(formats)
        self._svg: str | None = None

    def _bytes(self, format: str, options: Mapping[str, object] | None = None) -> bytes:
        if format not in self._formats:
            raise UnsupportedError(
                "this picture cannot be written as {}, but as {}".format(format, ", ".join(self._formats))
            )
        return self._draw(format, options or {})

    @property
    def svg(self) -> str:
        """As SVG, which needs no font and no other file."""
        if self._svg is None:
            self._svg = self._bytes("svg").decode()
        return self._svg

    def png(self, scale: float = 2.0) -> bytes:
        """As PNG, with `scale` pixels for each unit of the drawing."""
        return self._bytes("png", {"scale": scale})

    def pdf(self) -> bytes:
        """As PDF: one page of vectors."""
        return self._bytes("pdf")

    def html(self) -> str:
        """As a page that answers the pointer and refers to no other file."""
        return self._bytes("html").decode()

    def json(self) -> str:
        """What is drawn: rows, heads and weights."""
        return self._bytes("json").decode()

    def save(self, path: str | os.PathLike[str], **options: object) -> None:
        """Writes a file in the format of its name: .svg, .png, .pdf, .html or .json. `scale` is an option of .png."""
        name = os.fspath(path)
        ending = os.path.splitext(name)[1].lower().lstrip(".")
        if ending not in self._formats:
            raise InvalidError("{!r} must end with {}".format(name, ", ".join("." + each for each in self._formats)))
        _write(name, self._bytes(ending, options))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return "<headscope.Figure>"


def _write(name: str, data: bytes) -> None:
    """The whole file, or none: what was there before stays if the disk is full. It keeps its permissions."""
    replaced = os.path.isfile(name)
    if os.path.exists(name) and not replaced:
        with open(name, "wb") as file:
            file.write(data)
        return
    place = os.path.realpath(name)
    unfinished = f"{place}.{os.getpid()}.{threading.get_ident()}.tmp"
    try:
        with open(unfinished, "wb") as file:
            file.write(data)
        if replaced:
            os.chmod(unfinished, stat.S_IMODE(os.stat(place).st_mode))
        os.replace(unfinished, place)
    except BaseException as problem:
        with suppress(OSError):
            os.remove(unfinished)
        if isinstance(problem, OSError):
            problem.filename, problem.filename2 = name, None
        raise


def figure_of_record(record: Record, options: Mapping[str, object]) -> Figure:
    """A picture that the library draws."""

    def draw(format: str, more: Mapping[str, object]) -> bytes:
        with NativeOptions({**options, **more}) as chosen:
            return take(given(lib.hs_record_figure, record.pointer, chosen, format.encode()))

    return Figure(draw)


def frame_of(page: str, height: int = 640) -> str:
    """An HTML page in a frame of its own, which may run its scripts but reach nothing."""
    style = f"border:0;width:100%;height:{height}px"
    return f'<iframe sandbox="allow-scripts" title="Attention" style="{style}" srcdoc="{html.escape(page)}"></iframe>'


# ---- Heat maps

_CELL = 22
_BLUE = (0, 90, 181)
_ORANGE = (220, 100, 0)


def _colour(share: float) -> str:
    """From -1, blue, by 0, white, to 1, orange: safe for all common colour blindness."""
    to = _ORANGE if share >= 0 else _BLUE
    part = min(abs(share), 1.0)
    return "#{:02x}{:02x}{:02x}".format(*(round(255 + (end - 255) * part) for end in to))


def heat_map(
    title: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    columns: Sequence[str],
    unit: str,
    gaps: Sequence[int] = (),
) -> Figure:
    """Rows of numbers as colours, white at 0. The pointer shows each. `gaps`: rows with room above."""
    left = 8 + max([len(name) for name, _ in rows] or [0]) * 7
    top = 34 + max([len(name) for name in columns] or [0]) * 6
    most = max([abs(value) for _, values in rows for value in values] or [0.0]) or 1.0
    parts: list[str] = []
    for i, name in enumerate(columns):
        x = left + i * _CELL + _CELL / 2
        parts.append(
            '<text x="{0:g}" y="{1}" transform="rotate(-60 {0:g} {1})">{2}</text>'.format(x, top - 6, _shown(name))
        )
    y = float(top)
    for i, (name, values) in enumerate(rows):
        y += _CELL / 2 if i in gaps else 0
        parts.append(f'<text x="{left - 6}" y="{y + _CELL * 0.7:g}" text-anchor="end">{_shown(name)}</text>')
        for j, value in enumerate(values):
            label = columns[j] if j < len(columns) else str(j + 1)
            shown = f"{_shown(name)}, {_shown(label)}: {value:.3g} {unit}"
            parts.append(
                f'<rect x="{left + j * _CELL}" y="{y:g}" width="{_CELL - 1}" height="{_CELL - 1}" '
                f'fill="{_colour(value / most)}"><title>{shown}</title></rect>'
            )
        y += _CELL
    width = left + max([len(values) for _, values in rows] or [1]) * _CELL + 40
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1:g}" viewBox="0 0 {0} {1:g}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
        '<text x="8" y="18" font-size="13">{2}</text>{3}</svg>'
    ).format(max(width, 9 * len(title)), y + 10, _shown(title), "".join(parts))

    def draw(format: str, options: Mapping[str, object]) -> bytes:
        if options:
            raise InvalidError("this picture has no option {}".format(", ".join(options)))
        return svg.encode()

    return Figure(draw, ["svg"])


def _shown(text: str) -> str:
    return html.escape(text.replace("\u2581", "\u00b7"))
