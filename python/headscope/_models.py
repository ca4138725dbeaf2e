"""Models: open weights and tokenizers, and what every family can do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _requests
from ._arrays import numpy
from ._asking import Asking
from ._attention import Attention
from ._closing import Closing
from ._edits import Edit
from ._engine import refuse_in_hook
from ._errors import Error, InvalidError, UnsupportedError
from ._handles import Record
from ._importance import Importance, Saliency
from ._library import check, given, lib
from ._opened import Opened
from ._options import NativeOptions
from ._reading import check_errors, error_for, failed_score, json_of, only_of, pieces_of, raise_problems, score_of
from ._requests import encoded, inputs_of, listed
from ._results import Piece, Score
from ._run import NativeHooks, Run, native_patches
from ._vectors import Vectors, vectors_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._keywords import EmbedOptions, ExploreOptions, ImportanceOptions, RunOptions, SaliencyOptions, ScoreOptions
    from ._run import Hook, PatchLike

Self = TypeVar("Self", bound="Model")


class Model(Asking, Closing):
    """What all families of models can do. `open()` gives a Translator, a LanguageModel or a MaskedModel.

    A model may be used by many threads and coroutines at a time, whose work is done in common batches. `close()`, or
    the end of `with`, cancels what others still wait for.
    """

    def __init__(self, opened: Opened, arguments: Mapping[str, Any], edits: tuple[Edit, ...] = ()) -> None:
        self._opened = opened
        self._arguments = dict(arguments)
        self._edits = edits
        self._is_view = False
        self._view_closed = False

    @classmethod
    def open(cls: type[Self], model: Any, **arguments: Any) -> Self:
        """As headscope.open(), for a model of this class alone, which type checkers then know.

        >>> from headscope import Translator
        >>> Translator.open("en-de").family
        'encoder-decoder'
        """
        from ._open import open

        opened = open(model, **arguments)
        if isinstance(opened, cls):
            return opened
        opened.close()
        raise UnsupportedError(f"{opened.path} is a {type(opened).__name__}, not a {cls.__name__}")

    # ---- Its life

    def close(self) -> None:
        """Cancels what others wait for, and frees the weights. Results stay. Of an edited view: ends the view alone."""
        if self._is_view:
            self._view_closed = True
        else:
            self._opened.close()

    def unload(self) -> None:
        """Frees the weights as soon as no request uses them. Requests fail until `load()`."""
        self._check_open()
        with self._opened.handle as pointer:
            check(lib.hs_model_unload, pointer)

    def load(self) -> None:
        """Reads the weights again after `unload()`."""
        self._check_open()
        refuse_in_hook(self.engine)
        with self._opened.handle as pointer:
            check(lib.hs_model_load, pointer)

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened_again, (self._arguments, self._edits)

    # ---- Tokens

    def tokenize(self, text: str, side: str = "source") -> list[Piece]:
        """The pieces of a text as the model reads it. side: "source" or "target".

        >>> [piece.text for piece in open("en-de").tokenize("The cat sleeps.")]
        ['▁The', '▁cat', '▁sleep', 's', '.']
        """
        data = encoded(text, "the text")
        result = self._done(_requests.TOKENIZE, [data], None, {"side": side})
        return pieces_of(only_of(result), data)

    def detokenize(self, ids: Iterable[int], side: str = "source") -> str:
        """The text of pieces.

        >>> open("en-de").detokenize([194, 3614])
        'The cat'
        """
        data = json.dumps([int(each) for each in ids]).encode()
        return str(only_of(self._done(_requests.DETOKENIZE, [data], None, {"side": side}))["text"])

    # ---- Probabilities

    @overload
    def score(  # type: ignore[overload-overlap]
        self, texts: str, targets: str | None = None, *, errors: str = "raise", **options: Unpack[ScoreOptions]
    ) -> Score: ...
    @overload
    def score(
        self,
        texts: Iterable[str],
        targets: Iterable[str] | None = None,
        *,
        errors: str = "raise",
        **options: Unpack[ScoreOptions],
    ) -> list[Score]: ...
    def score(self, texts: Any, targets: Any = None, *, errors: str = "raise", **options: Any) -> Any:
        """How probable translations are, or texts for a language model, one or a list.

        targets: the translations; None for a language model. errors: "raise", or "keep" for a `problem` in the score.

        >>> round(open("en-de").score("A house.", "Ein Haus.").nll, 4)
        0.2665
        """
        check_errors(errors)
        alone = isinstance(texts, str)
        sources = listed(texts, "the texts")
        inputs, problems = inputs_of(sources, "text")
        outputs: list[bytes] | None = None
        to: list[str] = []
        if targets is not None:
            to = listed(targets, "the targets")
            if len(to) != len(sources):
                raise InvalidError(f"{len(sources)} texts have {len(to)} targets: give one for each")
            outputs, more = inputs_of(to, "target")
            problems.update(more)
        result = self._done(_requests.SCORE, inputs, outputs, self._edited(options))
        shown = to or sources
        found = [
            failed_score(source, shown[i], problems[i])
            if i in problems
            else score_of(result, i, each, source if to else "", shown[i])
            for i, (source, each) in enumerate(zip(sources, json_of(result)))
        ]
        if errors == "raise":
            raise_problems(result, found, problems, "text")
        return found[0] if alone else found

    # ---- Vectors

    @overload
    def embed(
        self,
        texts: str | Iterable[str],
        *,
        unit: Literal["line"] = "line",
        layer: int | None = None,
        **options: Unpack[EmbedOptions],
    ) -> NDArray[np.float32]: ...
    @overload
    def embed(  # type: ignore[overload-overlap]
        self,
        texts: str,
        *,
        unit: Literal["word", "piece"],
        layer: int | None = None,
        **options: Unpack[EmbedOptions],
    ) -> Vectors: ...
    @overload
    def embed(
        self,
        texts: Iterable[str],
        *,
        unit: Literal["word", "piece"],
        layer: int | None = None,
        **options: Unpack[EmbedOptions],
    ) -> list[Vectors]: ...
    def embed(self, texts: Any, *, unit: str = "line", layer: int | None = None, **options: Any) -> Any:
        """Texts as vectors: float32 [d_model] for one, [texts, d_model] for several.

        unit: "word" or "piece" gives Vectors of these for each text. pooling: the "mean" of the states of a unit's
        tokens, the "first" (of a text [CLS]) or the "last". layer: after which; 0 is the embeddings, None the last.

        >>> open("en-masked").embed(["A house.", "Good morning!"]).shape
        (2, 192)
        """
        alone = isinstance(texts, str)
        sources = listed(texts, "the texts")
        inputs, problems = inputs_of(sources, "text")
        given_options = dict(options, unit=unit, after_layer=layer)
        result = self._done(_requests.EMBED, inputs, None, self._edited(given_options))
        found: list[Vectors] = []
        for i, each in enumerate(json_of(result)):
            problem = problems.get(i) or each.get("problem")
            if problem:
                raise error_for(result, i, problems, problem if alone else f"text {i + 1} of {len(sources)}: {problem}")
            found.append(vectors_of(result, i, each, unit))
        if unit != "line":
            return found[0] if alone else found
        if alone:
            return found[0].array[0]
        return numpy().concatenate([each.array for each in found]) if found else numpy().zeros((0, 0), "<f4")

    # ---- Looking into it

    def attention(self, text: str, target: str | None = None, **options: Unpack[ExploreOptions]) -> Attention:
        """The attention of all heads for a text, with its target or one that the model writes.

        kind and layer, both, record one layer alone; other options are those of decoding.
        """
        result = self._done(_requests.ATTEND, *self._look_pair(text, target, options), self._edited(options))
        found = only_of(result)
        record = Record(given(lib.hs_result_record, result.pointer, 0))
        return Attention(record, self.layers, found["output"], found["log_probability"])

    def run(
        self,
        text: str,
        target: str | None = None,
        *,
        record: str | Sequence[str] = (),
        patch: Mapping[str, PatchLike] | None = None,
        hooks: Mapping[str, Hook] | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """A pass over a text with its target, whose values are recorded, replaced and changed.

        Sites are those of `sites`, with "*" for anything between two dots.

        record: the sites whose values are kept, float32 [.., positions, columns].
        patch: values for sites: an array, (array, slice of positions) to take these positions from an array of the
            whole site, or a Patch. All of them are finite floats.
        hooks: functions that get a site's values, float32, and change them in place or return new ones of the same
            shape. They run on a thread of the engine, which does nothing else meanwhile, so that a hook must not ask it
            for anything. If one raises, run() does, with that exception as its cause.
        target: what the model is made to predict; by default the model's own translation; of a masked model a word or a
            piece for each mask, between blanks, by default the likeliest ones. A causal model needs none.
        """
        for name, by_site in (("patch", patch), ("hooks", hooks)):
            if by_site is not None and not isinstance(by_site, Mapping):
                raise TypeError(f"{name} must be a dict with sites as keys, not {type(by_site).__name__}")
        sites = [record] if isinstance(record, str) else list(record)
        functions = NativeHooks(hooks or {}, self.engine)
        inputs, targets = self._read_pair(text, target, options)
        native = NativeOptions(
            self._edited({**options, "record": sites or None}),
            native_patches(patch) if patch else (),
            functions.functions,
        )
        self._check_open()
        try:
            result = self._opened.answer(_requests.RUN, inputs, targets, native, functions)
            return Run(result, only_of(result))
        except Error:
            if functions.failure is not None:
                raise Error(functions.problem) from functions.failure
            raise

    def importance(self, text: str, target: str | None = None, **options: Unpack[ImportanceOptions]) -> Importance:
        """What the probability of the target loses without each head.

        target: as of run().
        """
        result = self._done(_requests.IMPORTANCE, *self._read_pair(text, target, options), self._edited(options))
        return Importance(result, only_of(result))

    def saliency(
        self, text: str, target: str | None = None, *, steps: int = 1, **options: Unpack[SaliencyOptions]
    ) -> Saliency:
        """What each predicted token owes to each token that the model reads.

        target: as of run(). steps: 1 is gradient times embedding; more are integrated gradients, the mean over
        so many embeddings on the way from zero. Needs weights in float32.
        """
        given_options: dict[str, Any] = dict(options, steps=steps if steps != 1 else None)
        pair = self._read_pair(text, target, options)
        result = self._done(_requests.SALIENCY, *pair, self._edited(given_options))
        return Saliency(result, only_of(result), steps)

    def edit(self: Self, *edits: Edit) -> Self:
        """A view of the model with changed heads: off(), uniform(), pin() and unmasked(). It shares the weights.

        All that a device works for obeys them.

        >>> model = open("en-de")
        >>> with model.edit(off("cross", layer=1, head=1)) as without:
        ...     without.run("A house.", "Ein Haus.").log_probability < 0
        True
        """
        for each in edits:
            if not isinstance(each, Edit):
                raise TypeError(f"edits are made by off(), uniform(), pin() and unmasked(), not {type(each).__name__}")
        self._check_open()
        view = type(self)(self._opened, self._arguments, self._edits + edits)
        view._is_view = True
        return view


def _opened_again(arguments: dict[str, Any], edits: tuple[Edit, ...]) -> Model:
    from ._open import open

    model: Model = open(**arguments)
    return model.edit(*edits) if edits else model
