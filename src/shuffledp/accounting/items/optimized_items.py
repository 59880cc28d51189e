"""The blanket and the probabilities to send that estimate shares of items best.

Users who choose the target epsilon_k get it, certified: lambda_k is the largest
probability to send that m, blanket messages per person, allow. Small m cost signal,
large m add noise. The largest mean error that data can cause is minimized
(`expected_error`). All messages count alike: as targets come apart from messages, those
of one target cannot be given more weight than those of another, and lambda_k is the
only weight a target has. If m lets all users send all items, all lambda = 1 and targets
make no difference.

The minimum is searched for in `blanket_search`; the result is certified at the end.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.counts.rate_statement import check_delta
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.blanket_search import BlanketSearch
from shuffledp.accounting.items.expected_error import items_mean_squared_error
from shuffledp.accounting.items.items_parameters import ItemsParameters, check_sizes
from shuffledp.accounting.items.report_sizing import keeps_targets, sized
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.population import Population

# A search certifies a rate for each target at each blanket.
MAX_TARGETS = 64


@dataclass(frozen=True)
class OptimizedItems:
    """Parameters with their predicted error and their certified guarantee.

    Attributes:
        parameters: The parameters of all devices.
        mean_squared_error: Of the estimated share of an item about the participants', the
            mean over items, for the data that make it largest.
        limited: Whether more messages would have reduced the error.
        guarantee: Certified, of these parameters.
    """

    parameters: ItemsParameters
    mean_squared_error: float
    limited: bool
    guarantee: Guarantee

    @property
    def bits_per_person(self) -> int:
        """Bits of a report, ceil(log2(d + 1)) for every message."""
        # The bit length of d is ceil(log2(d + 1)): d items, and a dummy.
        return self.parameters.report_size * self.parameters.num_items.bit_length()

    @property
    def everything_sent(self) -> bool:
        """Whether all users send all their items; targets then make no difference."""
        return all(rate == 1.0 for rate in self.parameters.rates)


def optimize_items(
    people: Population | Mapping[float, int],
    *,
    num_items: int,
    set_size: int,
    delta: float,
    max_messages: int | None = None,
    absent: int = 0,
) -> OptimizedItems:
    """Chooses m and every lambda for the smallest error at certified guarantees.

    Args:
        people: Central epsilons that people ask for, and how many ask for each. Those who
            ask for 0 send blanket messages only.
        num_items: d, at least 2.
        set_size: s, from 1 to d.
        delta: In [1e-30, 1).
        max_messages: Messages per person, dummies included; None for no limit.
        absent: How many people may be absent or collude.

    Raises:
        InvalidInputError: If a parameter is out of range, or reports are too small.
        CertificationError: If nothing is found that can be proven.
    """
    if not isinstance(people, Population):
        people = Population.from_counts(people)
    if people.num_levels > MAX_TARGETS:
        raise InvalidInputError(
            f"Expected at most {MAX_TARGETS} targets, got {people.num_levels}."
        )
    check_sizes(num_items, set_size)
    check_delta(delta)
    num_honest = _honest_people(people, absent)
    search = BlanketSearch(
        people, int(num_items), int(set_size), float(delta), num_honest
    )
    max_blanket = math.inf
    if max_messages is not None:
        check_whole(max_messages, "messages per person", least=set_size + 1)
        max_blanket = search.blanket_for(max_messages)
    blanket, limited = search.best(max_blanket)
    probabilities = search.send_probabilities(blanket)
    # If all people send all they hold, no neighboring blanket can do better.
    if min(probabilities) < 1.0:
        blanket, probabilities = search.improved(blanket, probabilities, max_blanket)
    parameters = sized(
        people,
        probabilities,
        num_items=num_items,
        set_size=set_size,
        blanket=blanket,
        delta=delta,
        absent=absent,
    )
    guarantee = account(parameters, people, delta=delta, quantiles=False, absent=absent)
    # The search is not trusted: its result was certified as a whole.
    if not keeps_targets(guarantee):
        raise CertificationError(
            f"No parameters found that keep all targets at delta {delta:g}."
        )
    return OptimizedItems(
        parameters=parameters,
        mean_squared_error=items_mean_squared_error(
            people,
            probabilities,
            num_items=num_items,
            set_size=set_size,
            blanket=blanket,
        ),
        limited=limited,
        guarantee=guarantee,
    )


def _honest_people(people: Population, absent: int) -> int:
    """Returns how many people surely send blanket messages, the target user included."""
    check_whole(absent, "absent people", least=0)
    if absent > people.num_users - 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {absent}."
        )
    return people.num_users - int(absent)
