"""What a bound from the literature is: a formula, its source, and what is proven of it.

Nothing here is a certificate. A published bound is evaluated as its authors printed it,
also where it is known to be wrong; `proven` and `note` say so. Certified bounds come from
`account`.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import ClassVar

from shuffledp.arrays import as_number
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError, OutsidePreconditions
from shuffledp.papers.bounds.invert import delta_at, epsilon_at
from shuffledp.population import Population


class Status(StrEnum):
    """What is known of a published bound."""

    PROVEN = "proven"
    ASYMPTOTIC = "asymptotic only"
    UNPROVEN = "unproven"
    FALSE = "false as stated"


@dataclass(frozen=True, eq=False)
class Setting:
    """Whose privacy a bound is asked for, and in which crowd.

    >>> setting = Setting(Population.from_counts({0.5: 10, 1.0: 20}))
    >>> setting.num_users, setting.largest_budget
    (30, 1.0)

    Attributes:
        people: Local budgets and how many people have each, the victim included.
        mechanism: What the devices run; None for any randomizer with these budgets.
        victim: The victim's local budget, one of the people's; None for the one whom the
            paper takes for the worst.
        delta_local: The delta that every device's randomizer is allowed; 0 if it is pure.
    """

    people: Population
    mechanism: LocalRandomizer | None = None
    victim: float | None = None
    delta_local: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.people, Population):
            raise InvalidInputError(
                f"Expected a Population, got {type(self.people).__name__}."
            )
        if self.victim is not None:
            self.people.level_indices([self.victim])
        # Written this way round, it refuses NaN, too.
        if not 0.0 <= as_number(self.delta_local, "delta_local") < 1.0:
            raise InvalidInputError(
                f"Expected 0 <= delta_local < 1, got {self.delta_local:g}."
            )

    @property
    def num_users(self) -> int:
        """How many people there are, the victim included."""
        return self.people.num_users

    @property
    def largest_budget(self) -> float:
        """The largest local budget of anybody, the victim included."""
        return float(self.people.epsilons[-1])

    @property
    def mechanism_name(self) -> str | None:
        """The randomizer's name, such as "laplace", or None for any randomizer."""
        return None if self.mechanism is None else self.mechanism.mechanism


class PublishedBound:
    """One theorem of one paper, as printed.

    Attributes:
        name: What it is called here, such as "feldman2021-closed".
        title: The title of the paper.
        source: Authors, year, arXiv number, and the number of the theorem.
        applies_to: In plain words, which randomizers it is stated for.
        proven: What is known of it.
        note: In plain words, what holds and what does not.
        mixed: Is it stated for people with different budgets?
        within_budget: Is no epsilon beyond the largest local budget looked for?
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    applies_to: ClassVar[str]
    proven: ClassVar[Status]
    note: ClassVar[str]
    mixed: ClassVar[bool] = False
    within_budget: ClassVar[bool] = True

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless the theorem speaks of this setting.

        By default it speaks of pure randomizers. Conditions that depend on epsilon or
        delta are checked by the formulas.
        """
        check_pure(setting)

    def epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the epsilon that the paper states for this delta.

        Raises:
            InvalidInputError: Unless 0 < delta < 1.
            OutsidePreconditions: If the theorem does not speak of this setting, or states
                no epsilon for this delta.
        """
        delta = check_delta(delta)
        self.check(setting)
        return self.stated_epsilon(setting, delta)

    def delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the delta that the paper states for this epsilon.

        Raises:
            InvalidInputError: Unless epsilon is finite and >= 0.
            OutsidePreconditions: If the theorem does not speak of this setting, or states
                no delta for this epsilon.
        """
        epsilon = check_epsilon(epsilon)
        self.check(setting)
        return self.stated_delta(setting, epsilon)

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the formula's epsilon, or else the smallest of so small a delta.

        A bound defines this one or the next, the other by solving for it; both are called
        with checked numbers.
        """
        ceiling = setting.largest_budget if self.within_budget else math.inf
        return epsilon_at(partial(self.stated_delta, setting), delta, ceiling=ceiling)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the formula's delta, or else the smallest of so small an epsilon."""
        return delta_at(partial(self.stated_epsilon, setting), epsilon)


# What bounds for one common budget do with people who chose smaller ones.
EQUAL_ONLY = (
    "Stated for one randomizer that everybody runs; people with smaller budgets are "
    "counted as if they had the largest, which the theorem itself does not cover: with "
    "Laplace noise, a few careful people among others exceed it by orders of magnitude."
)


def status_in(bound: PublishedBound, setting: Setting) -> Status:
    """Returns what is known of a bound in this setting.

    What is proven for one common budget is not proven for several.
    """
    covered = bound.mixed or setting.people.num_levels == 1
    if bound.proven == Status.PROVEN and not covered:
        return Status.UNPROVEN
    return bound.proven


def require(holds: bool, condition: str, values: str) -> None:
    """Raises OutsidePreconditions unless a theorem's condition holds.

    Args:
        holds: Whether it does; False also if it could not be decided.
        condition: The condition as the paper states it.
        values: What was found instead.
    """
    if not holds:
        raise OutsidePreconditions(f"Expected {condition}, got {values}.")


def check_delta(delta: float) -> float:
    """Returns delta as a float; raises InvalidInputError unless it is in (0, 1)."""
    number = as_number(delta, "delta")
    if not 0.0 < number < 1.0:
        raise InvalidInputError(f"Expected 0 < delta < 1, got {number:g}.")
    return number


def check_epsilon(epsilon: float) -> float:
    """Returns epsilon as a float; raises InvalidInputError unless finite and >= 0."""
    number = as_number(epsilon, "epsilon")
    if not (math.isfinite(number) and number >= 0.0):
        raise InvalidInputError(f"Expected a finite epsilon >= 0, got {number:g}.")
    return number


def check_pure(setting: Setting) -> None:
    """Raises OutsidePreconditions if randomizers may fail with some probability."""
    local = setting.delta_local
    if setting.mechanism is not None:
        local = max(local, setting.mechanism.delta_local)
    require(local == 0.0, "pure local privacy, delta_local = 0", f"{local:g}")
