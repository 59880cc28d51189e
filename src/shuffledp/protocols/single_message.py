"""Any randomizer behind a shuffler: one message per person, for the accountant alone."""

from dataclasses import dataclass

from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.types import Mode


@dataclass(frozen=True)
class SingleMessage:
    """What `account` needs to know of a collection.

    Attributes:
        randomizer: What the devices run.
        mode: "agnostic" unlinks levels from messages: everybody hides among everybody.
            "stratified" keeps each level with its message: people hide among their own.
    """

    randomizer: LocalRandomizer
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        check_mode(self.mode)


def check_mode(mode: str) -> None:
    """Raises InvalidInputError unless this is one of the two modes."""
    if mode not in ("agnostic", "stratified"):
        raise InvalidInputError(
            f"Expected mode 'agnostic' or 'stratified', got {mode!r}."
        )
