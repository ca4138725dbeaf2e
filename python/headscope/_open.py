"""Opening models, and what there is to open."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from ctypes import c_void_p
from dataclasses import dataclass, field
from typing import Any, Union

from ._engine import Devices, Engine, borrowed, environment, refuse_in_hook, returned
from ._errors import InvalidError
from ._handles import Handle
from ._language_models import LanguageModel, MaskedModel
from ._library import given, lib, take
from ._opened import Opened, family_of
from ._options import NativeOptions, texts_of
from ._requests import Texts, encoded
from ._translators import Translator

Path = Union[str, "os.PathLike[str]"]

_FAMILIES = {"causal-lm": LanguageModel, "masked-lm": MaskedModel}


@dataclass(frozen=True)
class Device:
    """A device of this machine. id: for `devices=`. rejected: why it is not usable. memory_bytes: 0 if unknown.
    software: whether the CPU does its work, as with llvmpipe."""

    id: str
    name: str
    backend: str
    usable: bool
    default: bool
    rejected: str
    gpu: bool
    software: bool
    driver: str
    memory_bytes: int
    limits: Mapping[str, str] = field(repr=False)
    features: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class ModelInfo:
    """A model that `open(name)` finds."""

    name: str
    path: str


@dataclass(frozen=True)
class Option:
    """An option of the C library. uses: where it means something, such as "HS_TRANSLATE" for translate().
    least, most: of numbers. choices: of texts; of "settings", the names that there are."""

    key: str
    type: str
    default: Any
    uses: tuple[str, ...]
    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()


def devices() -> list[Device]:
    """The devices of this machine, also those that cannot be used.

    >>> [device.id for device in devices() if device.backend == "cpu"]
    ['cpu']
    """
    with NativeOptions({"settings": environment()}) as options:
        found = json.loads(take(given(lib.hs_devices, options)))
    names = Device.__dataclass_fields__
    listed = found["devices"] if isinstance(found, dict) else found
    return [Device(**{key: value for key, value in each.items() if key in names}) for each in listed]


def models(path: Path | Sequence[Path] = ()) -> list[ModelInfo]:
    """The models that `open(name)` finds.

    >>> "en-de" in [model.name for model in models()]
    True
    """
    with NativeOptions({"path": search_path(path)}) as options:
        found = json.loads(take(given(lib.hs_models, options)))
    return [ModelInfo(each["name"], each["path"]) for each in found]


def keys() -> list[Option]:
    """All options of the library, with their ranges, defaults and meanings.

    >>> next(option for option in keys() if option.key == "beam").least
    1
    """
    found = json.loads(take(given(lib.hs_options_keys)))
    return [
        Option(
            each["key"],
            each["type"],
            each["default"],
            tuple(each["for"]),
            each["help"],
            _bound(each, "least"),
            _bound(each, "most"),
            tuple(each.get("choices", ())),
        )
        for each in found
    ]


def _bound(row: Mapping[str, Any], name: str) -> float | None:
    number = row.get(name)
    return int(number) if number is not None and row["type"] == "integer" else number


def about() -> dict[str, Any]:
    """What the library was built from: "version", "commit", "abi" and "backends"."""
    found: dict[str, Any] = json.loads(take(given(lib.hs_about)))
    return found


def search_path(path: Path | Sequence[Path] = ()) -> list[str]:
    """Folders whose folder "models" has models: those of `path`, the user's data folder, the package headscope_models,
    and the source tree if this package lies in one. The library adds its own."""
    places = texts_of(path, "path")
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    places.append(os.path.join(data, "headscope"))
    from importlib.util import find_spec

    package = find_spec("headscope_models")
    if package is not None:
        places.extend(package.submodule_search_locations or ())
    tree = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if os.path.isfile(os.path.join(tree, "include", "headscope", "headscope.h")):
        places.append(os.path.join(tree, "assets"))
    return places


def open(
    model: Path | Sequence[Path],
    *,
    devices: Devices = "auto",
    precision: str = "f32",
    threads: int = 0,
    engine: Engine | None = None,
    path: Path | Sequence[Path] = (),
) -> Any:
    """Opens a model: a Translator, a LanguageModel or a MaskedModel.

    model: the name of a model, such as "en-de", or a folder or file of any format that Headscope reads; several form an
        ensemble, whose probabilities are averaged. Nothing is ever downloaded.
    devices, precision, threads: as of Engine. Models that are opened with the same ones share an engine.
    engine: instead, one of your own, which closing the model leaves open.
    path: folders with a folder "models" in which a name is looked for first.

    >>> with open("en-de") as model:
    ...     print(model.translate("Good morning!"))
    Guten Morgen!
    """
    places = texts_of(model, "model")
    arguments = {
        "model": places,
        "devices": devices,
        "precision": precision,
        "threads": threads,
        "engine": engine,
        "path": texts_of(path, "path"),
    }
    if engine is not None and not isinstance(engine, Engine):
        raise TypeError(f"engine must be an Engine, not {type(engine).__name__}")
    if engine is not None and (devices != "auto" or precision != "f32" or threads != 0):
        raise InvalidError("devices, precision and threads are the engine's: give them to Engine(), or no engine")
    texts = Texts([encoded(place, "the model's place") for place in places])
    chosen_engine = engine if engine is not None else borrowed(devices, precision, threads)
    try:
        refuse_in_hook(chosen_engine)
        with NativeOptions({"path": search_path(path)}) as options, chosen_engine.handle as pointer:
            opened = given(lib.hs_model_open, pointer, texts.address, len(places), options)
        handle = Handle(opened, _close_model, "model")
        shared = Opened(chosen_engine, engine is None, handle)
    except BaseException:
        if engine is None:
            returned(chosen_engine)
        raise
    kind = _FAMILIES.get(family_of(shared.info), Translator)
    return kind(shared, arguments)


def _close_model(pointer: c_void_p) -> None:
    lib.hs_model_close(pointer)
