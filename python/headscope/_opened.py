"""A model that is open in an engine."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Mapping
from typing import Any

from ._engine import Engine, refuse_in_hook, returned
from ._handles import Handle, Result
from ._library import given, lib, take
from ._requests import DETOKENIZE, TOKENIZE, Request, answer

_WITHOUT_DEVICE = (TOKENIZE, DETOKENIZE)


def family_of(info: Mapping[str, Any]) -> str:
    return str(info["keys"]["architecture"])


class Opened:
    """A model that is open in an engine. The model and its edited views share it."""

    def __init__(self, engine: Engine, borrowed: bool, handle: Handle) -> None:
        self.engine = engine
        self.handle = handle
        self._borrowed = borrowed
        self._lock = threading.Lock()
        self._requests: weakref.WeakSet[Request] = weakref.WeakSet()
        with handle as pointer:
            self.info: dict[str, Any] = json.loads(take(given(lib.hs_model_info, pointer)))

    def submit(self, kind: int, *work: Any) -> Request:
        """What Request() asks of the model."""
        self._refuse_in_hook(kind)
        request = Request(self.handle, kind, *work)
        with self._lock:
            self._requests.add(request)
        if self.handle.closed:  # meanwhile, so that close() may not have seen the request
            request.cancel()
        return request

    def answer(self, kind: int, *work: Any) -> Result:
        """What a request gives that only this thread waits for. Closing the model, or an exception, cancels it."""
        self._refuse_in_hook(kind)
        return answer(self.handle, kind, *work)

    def _refuse_in_hook(self, kind: int) -> None:
        if kind not in _WITHOUT_DEVICE:
            refuse_in_hook(self.engine)

    async def answer_async(self, kind: int, *work: Any) -> Result:
        """The same for asyncio."""
        request = self.submit(kind, *work)
        try:
            return await request.wait_async()
        finally:
            request.close()

    def close(self) -> None:
        self.handle.close()
        if self.handle.foreign:
            return
        with self._lock:  # once, of however many threads
            borrowed, self._borrowed = self._borrowed, False
            requests = list(self._requests)
        for request in requests:
            request.cancel()
        if borrowed:
            returned(self.engine)

    def __del__(self) -> None:
        if hasattr(self, "info"):
            self.close()
