"""What every level is certified to be worth at once, before the accountant has its number.

What the others hide comes from a bound in closed form (upper/chernoff.py), what the device
promises alone and what several shuffles show together from where the accountant has it. So
the numbers are as proven as the accountant's, and larger.
"""

from typing import Any

from shuffledp.accounting.account import check_people
from shuffledp.accounting.accounting_query import check_either, check_whole
from shuffledp.accounting.bounds_at import TargetUsers
from shuffledp.accounting.certificate_guard import check_defines_own
from shuffledp.accounting.exposure import single_messages
from shuffledp.accounting.rounds.composed_profile import total_budget
from shuffledp.population import Population


def closed_form_epsilons(
    protocol: Any,
    people: Population,
    *,
    delta: float,
    absent: int = 0,
    rounds: int = 1,
) -> list[float]:
    """Certifies an epsilon for the people of every level, in some milliseconds.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> closed_form_epsilons(sdp.Frequency(17), people, delta=1e-6)
    [0.0211569, 0.067866]

    Args:
        protocol: The object that runs on the devices, of one report per person.
        people: Levels and counts of those who take part, each of which is answered for.
        delta: In [1e-300, 1).
        absent: How many of the other people may be absent or collude.
        rounds: How often the same people take part, with independent randomness.

    Returns:
        Per level, in the order of the population, an epsilon that is proven at delta.

    Raises:
        InvalidInputError: If an argument is out of range, or the protocol has nothing that
            a certificate can rest on.
        PopulationError: If nobody is left to hide among.
        CertificationError: If no bound can be proven in double precision.
    """
    check_either(delta, None)
    check_people(people, absent)
    check_whole(rounds, "rounds", least=1)
    exposure = single_messages(protocol, people)
    check_defines_own(exposure.randomizer, "covers")
    if hasattr(protocol, "exposures"):
        check_defines_own(protocol, "exposures")
    times = rounds * exposure.coordinates
    pure = exposure.randomizer.delta_local == 0.0
    budgets = [total_budget(times, level) for level in people.epsilons.tolist()]
    # Nobody's total variation exceeds half her budget.
    found = {
        position: 0.0
        for position, budget in enumerate(budgets)
        if pure and budget <= delta
    }
    rest = [position for position in range(len(budgets)) if position not in found]
    for crowd, places in exposure.crowds(rest):
        victims = TargetUsers(
            exposure.randomizer,
            crowd,
            list(places.values()),
            min(absent, crowd.num_users - 1),
            times,
        )
        found |= dict(zip(places, victims.closed_form_epsilons_at(delta), strict=True))
    return [found[position] for position in range(len(budgets))]
