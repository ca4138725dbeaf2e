"""What a `with` statement closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from types import TracebackType

Self = TypeVar("Self", bound="Closing")


class Closing:
    """Closes itself at the end of a `with` block."""

    def close(self) -> None:
        """Gives back what it holds."""
        raise NotImplementedError

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
