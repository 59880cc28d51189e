"""Certified epsilons from a bound in closed form, in milliseconds.

The amplification by shuffling comes from upper/chernoff.py; the local guarantee and the
composition of shuffles are those of the accountant. The numbers are as proven as the
accountant's, and larger.
"""

from shuffledp.accounting.account import check_people
from shuffledp.accounting.accounting_query import check_either, check_rounds
from shuffledp.accounting.bounds_at import TargetUsers
from shuffledp.accounting.certificate_guard import check_certifiable
from shuffledp.accounting.exposure import Certifiable, single_messages
from shuffledp.accounting.rounds.total_budget import total_budget
from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population


def closed_form_epsilons(
    protocol: Certifiable | LocalRandomizer,
    people: Population,
    *,
    delta: float,
    absent: int = 0,
    rounds: int = 1,
) -> list[float]:
    """Certifies an epsilon for every level, larger than that of `account`.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> closed_form_epsilons(sdp.Frequency(17), people, delta=1e-6)
    [0.0211569, 0.067866]

    Args:
        protocol: The object that runs on the devices, with one report per user.
        people: Levels and counts of the participants; every level is reported.
        delta: In [1e-300, 1).
        absent: Number of other users who may be absent or collude.
        rounds: Number of collections with the same users and independent randomness.

    Returns:
        Per level, in the order of the population, an epsilon that is proven at delta.

    Raises:
        InvalidInputError: If an argument is out of range, or the protocol provides no cover
            to certify.
        PopulationError: If no other users are left to hide among.
        CertificationError: If no bound can be proven in double precision.
    """
    check_either(delta, None)
    check_people(people, absent)
    check_rounds(rounds)
    exposure = single_messages(protocol, people)
    check_certifiable(protocol, [exposure])
    times = rounds * exposure.coordinates
    # With a delta_local > 0 the total variation may exceed half the budget.
    pure = exposure.randomizer.delta_local == 0.0
    budgets = [
        total_budget(times, epsilon_local) for epsilon_local in people.epsilons.tolist()
    ]
    # The total variation is at most half the budget.
    epsilons = {
        position: 0.0
        for position, budget in enumerate(budgets)
        if pure and budget <= delta
    }
    remaining = [index for index in range(len(budgets)) if index not in epsilons]
    for population, positions in exposure.hiding_populations(remaining):
        targets = TargetUsers(
            exposure.randomizer,
            population,
            list(positions.values()),
            # The population of one level may be smaller than the number of absent
            # people.
            min(absent, population.num_users - 1),
            times,
        )
        epsilons |= dict(
            zip(positions, targets.closed_form_epsilons_at(delta), strict=True)
        )
    return [epsilons[position] for position in range(len(budgets))]
