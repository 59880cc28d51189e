"""Tests that any randomizer can be put to, a third party's like our own."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shuffledp.testing.check import check_randomizer

__all__ = ["check_randomizer"]


def __getattr__(name: str) -> Any:
    """Imports the check when it is first asked for."""
    if name != "check_randomizer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shuffledp.testing.check import check_randomizer

    return check_randomizer
