"""What a collection of strings is worth: once, and for a lifetime of reports."""

from dataclasses import dataclass

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.population import Population
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.statistics.strings import Strings


@dataclass(frozen=True)
class StringGuarantee:
    """What a collection of strings is worth.

    Attributes:
        one_report: For a person who reports once.
        any_number: However often she reports from the same permanent response.
    """

    one_report: Guarantee
    any_number: Guarantee


def certify_strings(
    protocol: Strings,
    people: Population,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    absent: int = 0,
) -> StringGuarantee:
    """Certifies what one report is worth, and what any number of them are.

    People hide within their cohort. Every cohort contains at least the people of
    `smallest_cohort`, and who hides among more is covered no less: both statements are
    made for that crowd, and hold in every cohort. It must have 2 people or more.

    Args:
        protocol: The collection.
        people: Levels and counts of everybody who takes part.
        delta: Report the smallest certified epsilon of each level at this delta.
        epsilon: Report the smallest certified delta instead.
        absent: How many of the others in a cohort may be absent or collude.

    Raises:
        PopulationError: If a cohort would be left without one of the levels.
    """
    crowd = protocol.smallest_cohort(people)
    randomizer, mode = protocol.randomizer, protocol.mode
    once, always = (
        account(
            SingleMessage(what, mode),
            crowd,
            delta=delta,
            epsilon=epsilon,
            absent=absent,
        )
        for what in (randomizer, randomizer.permanent)
    )
    return StringGuarantee(one_report=once, any_number=always)
