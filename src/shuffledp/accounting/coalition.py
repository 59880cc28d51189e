"""The guarantee against a coalition of shuffler and analyst.

Together they see the reports of each person with the sender's name. No other user hides a
report there, so that only the randomization on the device counts: the local budgets of all
reports together, by basic composition (Dwork and Roth 2014, Theorem 3.16).
"""

from collections.abc import Sequence
from fractions import Fraction

from shuffledp.accounting.epsilon_solver import shortened
from shuffledp.accounting.rounds.total_budget import total_budget
from shuffledp.accounting.statement import Statement
from shuffledp.accounting.sums.rounding import rounded_up
from shuffledp.cover import LocalRandomizer
from shuffledp.format_number import plain

# More epsilons than this are given by their ends.
_MOST_EPSILONS = 3


def coalition_bound(
    randomizer: LocalRandomizer, level: float, *, times: int
) -> tuple[float, float]:
    """Returns epsilon and delta of all reports of one person, both rounded upward.

    >>> import shuffledp as sdp
    >>> coalition_bound(sdp.KRandomizedResponse(3), 0.5, times=1)
    (0.5, 0.0)

    Args:
        randomizer: Of every report.
        level: The local budget of one report, in nats.
        times: Number of reports, at least 1.
    """
    # `delta_local` may speak of one of the `changes` messages that show a value.
    shuffles = times * randomizer.changes
    delta = rounded_up(shuffles * Fraction(randomizer.delta_local))
    return total_budget(times, level), min(delta, 1.0)


def coalition_note(statements: Sequence[Statement]) -> str | None:
    """Returns a sentence on what remains against the coalition; None if nothing does.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> guarantee = sdp.account(sdp.Frequency(17), people, delta=1e-6)
    >>> print(coalition_note(guarantee.statements))  # doctest: +ELLIPSIS
    If shuffler and analyst work together, they see ... left: epsilon 1 and 2, by level.
    """
    levels = statements[0].levels
    coalition_epsilons = [entry.epsilon_coalition for entry in levels]
    epsilons = sorted(
        {shortened(epsilon) for epsilon in coalition_epsilons if epsilon is not None}
    )
    if not epsilons or None in coalition_epsilons:
        return None
    delta = max(entry.delta_coalition for entry in levels)
    if len(epsilons) > _MOST_EPSILONS:
        named = f"{plain(epsilons[0])} to {plain(epsilons[-1])}, by level"
    elif len(epsilons) > 1:
        first = ", ".join(map(plain, epsilons[:-1]))
        named = f"{first} and {plain(epsilons[-1])}, by level"
    else:
        named = plain(epsilons[0])
    at_delta = f", at delta {plain(shortened(delta))}" if delta else ""
    return (
        "If shuffler and analyst work together, they see each person's own reports, and "
        f"the local guarantee is all that is left: epsilon {named}{at_delta}."
    )
