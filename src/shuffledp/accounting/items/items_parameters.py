"""Public parameters of devices that send sets of items, and their exposure.

Statistics, planners and certificates all hold these: one collection, one identity.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.counts.sending_rates import check_probability, positions_of
from shuffledp.accounting.exposure import Exposure
from shuffledp.accounting.items.items_exposure import ItemsAmongPoisson
from shuffledp.arguments import expect_instance, expect_list
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.population import Population, check_budgets

MAX_SET_SIZE = 4096

_MAX_ITEMS = 2**31
_MAX_BLANKET = 1e5


@dataclass(frozen=True)
class ItemsParameters:
    """Public parameters that every device must know.

    Attributes:
        num_items: d, at least 2.
        set_size: s, from 1 to d: the most items of a user.
        targets: Central epsilons that people may choose from, strictly increasing.
        rates: lambda, the probability to send an item, of each target, in [0, 1].
        blanket: m, blanket messages per person in the mean.
        report_size: Messages per person, dummies included.
        noise: The distribution of the number of blanket messages: "poisson", or
            "bernoulli" as published, which has no certificate.
    """

    num_items: int
    set_size: int
    targets: tuple[float, ...]
    rates: tuple[float, ...]
    blanket: float
    report_size: int
    noise: Literal["poisson", "bernoulli"] = "poisson"

    def __post_init__(self) -> None:
        check_sizes(self.num_items, self.set_size)
        check_whole(self.report_size, "messages per report", least=self.set_size)
        targets, rates = (
            _finite_numbers(self.targets, "targets"),
            _finite_numbers(self.rates, "rates"),
        )
        check_budgets(np.array(targets))
        if not np.all(np.diff(targets) > 0.0):
            raise InvalidInputError("Expected distinct targets in ascending order.")
        if len(rates) != len(targets):
            raise InvalidInputError(
                f"Expected {len(targets)} probabilities to send, one for each target, got "
                f"{len(rates)}."
            )
        if self.noise not in ("poisson", "bernoulli"):
            raise InvalidInputError(
                f"Expected noise 'poisson' or 'bernoulli', got {self.noise!r}."
            )
        # Numbers of one type each: equal parameters have equal identities.
        for name, value in (
            ("num_items", int(self.num_items)),
            ("set_size", int(self.set_size)),
            ("report_size", int(self.report_size)),
            ("targets", targets),
            ("rates", tuple(map(check_probability, rates))),
            ("blanket", check_blanket(self.blanket)),
        ):
            object.__setattr__(self, name, value)

    @property
    def identity(self) -> Identity:
        """Identity with all parameters."""
        parameters = {
            "items": self.num_items,
            "set_size": self.set_size,
            "targets": list(self.targets),
            "rates": list(self.rates),
            "blanket": self.blanket,
            "report_size": self.report_size,
        }
        return Identity.of("items", f"{self.noise}-items", parameters, "agnostic")

    @property
    def cap(self) -> int:
        """The most blanket messages that a person sends."""
        return self.report_size - self.set_size

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposure that the accountant certifies: one report.

        Args:
            people: How many people chose each target.

        Raises:
            UnknownLevelError: If a user's target is none of the protocol's.
            InvalidInputError: If there is no certificate for this noise.
        """
        if self.noise != "poisson":
            raise InvalidInputError(
                "Expected Poisson noise: with as many draws as published, the number of "
                "all messages tells who sent an item, and nothing is certified."
            )
        expect_instance(people, Population)
        rates = np.array(self.rates)[positions_of(people.epsilons, self.targets)]
        return (
            ItemsAmongPoisson(
                num_items=self.num_items,
                set_size=self.set_size,
                blanket=self.blanket,
                report_size=self.report_size,
                people=people,
                rates=tuple(rates.tolist()),
            ),
        )


def check_sizes(num_items: int, set_size: int) -> None:
    """Raises InvalidInputError unless there can be sets of this size."""
    check_whole(num_items, "items", least=2)
    check_whole(set_size, "items per set", least=1)
    if num_items > _MAX_ITEMS:
        raise InvalidInputError(
            f"Expected at most {_MAX_ITEMS} items, got {num_items}."
        )
    if set_size > num_items:
        raise InvalidInputError(
            f"Expected at most {num_items} items per set, as there are no others, got "
            f"{set_size}."
        )
    if set_size > MAX_SET_SIZE:
        raise InvalidInputError(
            f"Expected at most {MAX_SET_SIZE} items per set, got {set_size}."
        )


def check_blanket(blanket: float) -> float:
    """Returns m; raises InvalidInputError unless it is in range."""
    m = as_number(blanket, "blanket messages per person")
    if not (0.0 <= m <= _MAX_BLANKET and math.isfinite(m)):
        raise InvalidInputError(
            f"Expected 0 to {_MAX_BLANKET:g} blanket messages per person, got {m:g}."
        )
    return m


def _finite_numbers(values: Sequence[float], what: str) -> tuple[float, ...]:
    numbers = tuple(as_number(value, what) for value in expect_list(values, what))
    if not numbers:
        raise InvalidInputError(f"Expected at least one of {what}, got none.")
    return numbers
