"""Parameters with reports as small as a promise allows, and whether targets are kept."""

from collections.abc import Sequence

from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.counts.report_truncation import CUT_SHARE, smallest_report
from shuffledp.accounting.counts.sending_rates import check_probability
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.items_exposure import blanket_mean
from shuffledp.accounting.items.items_parameters import ItemsParameters
from shuffledp.accounting.items.items_profile import items_profile
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population


def sized(
    people: Population,
    send_probabilities: Sequence[float],
    *,
    num_items: int,
    set_size: int,
    blanket: float,
    delta: float,
    absent: int = 0,
) -> ItemsParameters:
    """Returns parameters whose reports are the smallest that cost a thousandth of delta.

    Args:
        people: How many people ask for each target.
        send_probabilities: lambda of each target, in [0, 1].
        num_items: d.
        set_size: s, at most d.
        blanket: m > 0.
        delta: At which a guarantee is wanted.
        absent: How many people may be absent or collude.

    Raises:
        InvalidInputError: If a parameter is out of range.
        CertificationError: If no finite epsilon holds.
    """
    num_honest = people.num_users - absent
    probability = max(
        check_probability(send_probability) for send_probability in send_probabilities
    )
    mean = blanket_mean(blanket, num_items, num_honest)
    # The largest probability to send has the largest epsilon.
    ideal = items_profile(mean, probability, set_size, num_items, delta)
    uncut_epsilon = ReportBounds(ideal, 0.0, 0.0).uncut_epsilon(
        (1.0 - CUT_SHARE) * delta, guess=float(people.epsilons[-1])
    )
    size = smallest_report(
        blanket, set_size, num_honest=num_honest, epsilon=uncut_epsilon, delta=delta
    )
    return ItemsParameters(
        num_items=num_items,
        set_size=set_size,
        targets=tuple(people.epsilons.tolist()),
        rates=tuple(send_probabilities),
        blanket=blanket,
        report_size=size,
    )


def keeps_targets(guarantee: Guarantee) -> bool:
    """Returns whether every level keeps its target, up to rounding in the sixth digit.

    Raises:
        InvalidInputError: If people did not ask for central epsilons.
    """
    targets = [level.target for level in guarantee.levels]
    if None in targets:
        raise InvalidInputError("Expected a guarantee of people who chose targets.")
    return all(
        # Certified numbers are rounded upward, by up to 1e-5 of themselves.
        level.epsilon_central <= (level.target or 0.0) * (1.0 + 1.1e-5)
        for level in guarantee.levels
    )
