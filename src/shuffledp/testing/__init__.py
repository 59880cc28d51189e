"""Conformance checks for randomizers, built-in and third-party ones."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shuffledp.testing.check import check_randomizer

__all__ = ["check_randomizer"]


def __getattr__(name: str) -> Any:
    """Imports `check_randomizer` on first access."""
    if name != "check_randomizer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shuffledp.testing.check import check_randomizer

    return check_randomizer
