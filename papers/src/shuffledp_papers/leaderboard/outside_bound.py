"""Bound from outside: an accountant with the interface of `shuffledp audit accountant`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shuffledp.errors import ShuffledpError
from shuffledp.extension_loading import expecting, load_named
from shuffledp_papers.bounds.bound import PublishedBound, Setting, Status
from shuffledp_papers.outside_preconditions import OutsidePreconditions


@dataclass(frozen=True)
class OutsideBound(PublishedBound):
    """The largest delta that an accountant states over all levels.

    Attributes:
        accountant: Called with a randomizer, people, and epsilon by name; its answer has
            `levels` with `delta_central`.
        name: Its location, as "module:name".
    """

    accountant: Callable[..., Any]
    # An attribute of the object: every accountant has a name of its own.
    name: str  # type: ignore[misc]

    title = "A bound from outside"
    source = "named on the command line"
    applies_to = "what it answers about"
    proven = Status.UNPROVEN
    note = "Nothing is known of it here."
    mixed = True
    within_budget = False

    def check(self, setting: Setting) -> None:
        """Accepts every setting: the accountant decides."""

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the accountant's delta of the least protected level.

        Raises:
            OutsidePreconditions: If it refuses.
            InvalidInputError: If it fails, or answers with anything else.
        """
        with expecting(f"{self.name} to answer with levels that have delta_central"):
            try:
                answer = self.accountant(
                    setting.mechanism, setting.people, epsilon=epsilon
                )
            except ShuffledpError as refusal:
                raise OutsidePreconditions(str(refusal)) from refusal
            return max(float(level.delta_central) for level in answer.levels)


def outside_bound(location: str) -> OutsideBound:
    """Imports an accountant by "module:name".

    Raises:
        InvalidInputError: If there is none.
    """
    return OutsideBound(load_named(location), location)
