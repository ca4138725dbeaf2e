"""Values in the middle of a pass: recorded, replaced and changed."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ._arrays import names_of, numpy, of_result, view
from ._engine import Engine, serving
from ._errors import FAILED, InvalidError
from ._handles import Result
from ._library import HOOK_FUNCTION
from ._results import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._options import NativePatch

    # An array, which the hook may have changed; None: the one that it got.
    Hook = Callable[[NDArray[np.float32]], Optional[ArrayLike]]

# Arrays of a request that are not values of a site.
_OTHERS = ("tokens", "token_log_probabilities")


@dataclass(frozen=True)
class Patch:
    """Values to put in the place of a site's.

    values: float32 [.., positions, columns], from the position `first` on, which counts from 0. The site may have more
    positions, which stay as they are. head: of one head, from 1, and without the dimension of heads.
    """

    values: Any
    first: int = 0
    head: int | None = None


class States(Mapping[str, Any]):
    """The recorded values by their sites: float32 arrays, read-only and without a copy, made when asked for."""

    def __init__(self, result: Result, names: Sequence[str]) -> None:
        self._result = result
        self._names = tuple(names)

    def __getitem__(self, site: str) -> NDArray[np.float32]:
        if site not in self._names:
            raise KeyError("{!r} was not recorded, but {}".format(site, ", ".join(self._names) or "nothing was"))
        values: NDArray[np.float32] = of_result(self._result, site)
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return "<headscope.States of {}>".format(", ".join(self._names) or "nothing")


@dataclass(frozen=True)
class Step:
    """A token of the target, as the model saw it.

    rank: from 1, among all tokens. position: of the row of the decoder that predicted it, from 0. candidates: the
    likeliest tokens there.
    """

    id: int
    log_probability: float
    rank: int
    position: int
    candidates: tuple[Candidate, ...]


class Run:
    """A pass over a text with its target.

    log_probability: of the target, natural logarithm. states: the recorded values by their sites.

    >>> model = open("en-de")
    >>> run = model.run("The cat sleeps.", "Die Katze schläft.", record=["encoder.*.residual_out"])
    >>> run.states["encoder.5.residual_out"].shape
    (6, 256)
    >>> off = model.run("The cat sleeps.", "Die Katze schläft.", hooks={"decoder.2.cross_attention.z": lambda z: z * 0})
    >>> off.log_probability < run.log_probability
    True
    """

    def __init__(self, result: Result, json: Mapping[str, Any]) -> None:
        self._result = result
        self._json = json
        self.log_probability: float = json["log_probability"]
        self.states = States(result, [name for name in names_of(result) if name not in _OTHERS])

    @property
    def steps(self) -> tuple[Step, ...]:
        """The tokens of the target with what else the model thought likely."""
        return tuple(step_of(each) for each in self._json["steps"])

    @property
    def ids(self) -> NDArray[np.int32]:
        """int32 [n], of the tokens of the target, the end among them."""
        ids: NDArray[np.int32] = of_result(self._result, "tokens")
        return ids

    @property
    def token_log_probabilities(self) -> NDArray[np.float64]:
        """float64 [n], of `ids`."""
        values: NDArray[np.float64] = of_result(self._result, "token_log_probabilities")
        return values

    def __repr__(self) -> str:
        return f"<headscope.Run, log-probability {self.log_probability:.4f}, {len(self.states)} sites>"


def step_of(json: Mapping[str, Any]) -> Step:
    return Step(json["id"], json["log_probability"], json["rank"], json["position"], candidates_of(json["candidates"]))


def candidates_of(json: Sequence[Mapping[str, Any]]) -> tuple[Candidate, ...]:
    return tuple(Candidate(each["piece"], (each["piece"],), (each["id"],), each["log_probability"]) for each in json)


# ---- Patches

PatchLike = Union["ArrayLike", Patch, tuple["ArrayLike", slice]]


def native_patches(patches: Mapping[str, PatchLike]) -> list[NativePatch]:
    """Checks everything that can be known before the text is read."""
    return [_native(site, patch) for site, patch in patches.items()]


def _native(site: str, patch: PatchLike) -> NativePatch:
    np = numpy()
    if isinstance(patch, tuple):
        if len(patch) != 2 or not isinstance(patch[1], slice):
            raise InvalidError(f"the patch of {site} must be an array, (array, slice) or a Patch")
        values = _float32(np, site, patch[0])
        positions = patch[1]
        first, _, step = positions.indices(values.shape[-2] if values.ndim > 1 else 0)
        if step != 1 or values.ndim < 2:
            raise InvalidError(f"the patch of {site} needs an array [.., positions, columns] and a slice of step 1")
        patch = Patch(np.ascontiguousarray(values[..., positions, :]), first)
    elif not isinstance(patch, Patch):
        patch = Patch(patch)
    values = _float32(np, site, patch.values)
    if values.size == 0:
        raise InvalidError(f"the patch of {site} has no values: its shape is {values.shape}")
    for name, number, least in (("head", patch.head, 1), ("first", patch.first, 0)):
        if number is not None and (not isinstance(number, int) or number < least):
            raise InvalidError(f"{name} of the patch of {site} must be {least} or more, not {number!r}")
    return site, values, patch.head or 0, patch.first


def _float32(np: Any, site: str, values: Any) -> Any:
    array = np.asarray(values)
    if array.dtype.kind != "f":
        raise InvalidError(f"the patch of {site} must have floats, not {array.dtype}: use .astype(numpy.float32)")
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(array).all():
        raise InvalidError(f"the patch of {site} has a NaN, an infinity or a number beyond float32")
    if not 1 <= array.ndim <= 4:
        raise InvalidError(f"the patch of {site} must have 1 to 4 dimensions, not {array.ndim}")
    return array


# ---- Hooks


class NativeHooks:
    """Functions as the library calls them, on a thread of the engine. The first exception of one is kept."""

    def __init__(self, hooks: Mapping[str, Hook], engine: Engine) -> None:
        self._engine = weakref.ref(engine)  # this object is part of a cycle
        self.failure: BaseException | None = None
        self.problem = ""
        if hooks:
            numpy()  # not in the engine's thread, where it would be too late to say that it is missing
        for site, hook in hooks.items():
            if not callable(hook):
                raise TypeError(f"the hook of {site} must be a function, not {type(hook).__name__}")
        self.functions = [(site, HOOK_FUNCTION(self._called(hook))) for site, hook in hooks.items()]

    def _called(self, hook: Hook) -> Callable[..., int]:
        def call(_: Any, site: bytes, __: Any, shape: Any) -> int:
            serving.engine = self._engine()
            try:
                # The memory is lent for this call alone, so the hook gets a copy that it may keep.
                lent = view(shape.contents, None, writable=True)
                values = lent.copy()
                found = hook(values)
                lent[...] = _returned(site.decode(), values, found)
                return 0
            except BaseException as failure:
                if self.failure is None:
                    self.failure = failure
                    self.problem = f"the hook of {site.decode()} failed: {type(failure).__name__}: {failure}"
                return FAILED
            finally:
                serving.engine = None

        return call


def _returned(site: str, values: Any, found: Any) -> Any:
    if found is None:
        return values
    array = numpy().asarray(found)
    if array.dtype.kind != "f":
        raise InvalidError(f"the hook of {site} returned {array.dtype} instead of floats")
    if array.shape != values.shape:
        raise InvalidError(f"the hook of {site} returned the shape {array.shape} instead of {values.shape}")
    return array


# ---- Names of others

_PLACES = {
    "hook_resid_pre": "residual_in",
    "hook_resid_mid": "residual_mid",
    "hook_resid_post": "residual_out",
    "hook_attn_out": "self_attention.out",
    "hook_mlp_out": "feed_forward.out",
    "attn.hook_q": "self_attention.q",
    "attn.hook_k": "self_attention.k",
    "attn.hook_v": "self_attention.v",
    "attn.hook_pattern": "self_attention.weights",
    "attn.hook_z": "self_attention.z",
    "mlp.hook_post": "feed_forward.hidden",
    "cross_attn.hook_q": "cross_attention.q",
    "cross_attn.hook_k": "cross_attention.k",
    "cross_attn.hook_v": "cross_attention.v",
    "cross_attn.hook_pattern": "cross_attention.weights",
    "cross_attn.hook_z": "cross_attention.z",
    "hook_cross_attn_out": "cross_attention.out",
    "hook_resid_mid_cross": "residual_cross",
}


def transformer_lens_names(sites: Sequence[str]) -> dict[str, str]:
    """TransformerLens' names for those of `sites` that it has a name for.

    Arrays of heads are [batch, heads, positions, d] here, and [batch, positions, heads, d] there; patterns are alike.

    >>> names = transformer_lens_names(open("en-causal").sites)
    >>> names["blocks.0.attn.hook_z"], names["hook_embed"]
    ('decoder.0.self_attention.z', 'decoder.embedding')
    """
    places = {place: name for name, place in _PLACES.items()}
    both = any(site.startswith("encoder.") for site in sites) and any(site.startswith("decoder.") for site in sites)
    names: dict[str, str] = {}
    for site in sites:
        stack, _, rest = site.partition(".")
        before = stack + "_" if both else ""
        layer, _, place = rest.partition(".")
        if site == "logits":
            names["unembed.hook_out"] = site
        elif rest == "embedding":
            names[f"{before}hook_embed"] = site
        elif rest == "norm":
            names[f"{before}ln_final.hook_normalized"] = site
        elif layer.isdigit() and place in places:
            blocks = stack if both else "blocks"
            names[f"{blocks}.{layer}.{places[place]}"] = site
    return names
