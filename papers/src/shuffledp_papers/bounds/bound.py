"""Interface of published bounds: a formula, its source, and its proof status.

Nothing here is a certificate: certified bounds come from `account`.
"""

import math
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial
from typing import ClassVar

from shuffledp.arrays import as_number
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp_papers.bounds.invert import delta_at, epsilon_at
from shuffledp_papers.outside_preconditions import OutsidePreconditions
from shuffledp_papers.toml_tables import read_rows


class Status(StrEnum):
    """Proof status of a published bound."""

    PROVEN = "proven"
    ASYMPTOTIC = "asymptotic only"
    UNPROVEN = "unproven"
    FALSE = "false as stated"


@dataclass(frozen=True, eq=False)
class Setting:
    """Population about which a bound is evaluated, and the target user in it.

    >>> setting = Setting(Population.from_counts({0.5: 10, 1.0: 20}))
    >>> setting.num_users, setting.largest_budget
    (30, 1.0)

    Attributes:
        people: Local budgets and how many users have each, the target user included.
        mechanism: Randomizer of all devices; None for any randomizer with these budgets.
        target_user: The target user's local budget, one of the population's; None for
            the user whom the paper takes for the worst case.
        delta_local: The delta that every device's randomizer is allowed; 0 if it is pure.
    """

    people: Population
    mechanism: LocalRandomizer | None = None
    target_user: float | None = None
    delta_local: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.people, Population):
            raise InvalidInputError(
                f"Expected a Population, got {type(self.people).__name__}."
            )
        if self.target_user is not None:
            self.people.level_indices([self.target_user])
        # Written this way round, it refuses NaN, too.
        if not 0.0 <= as_number(self.delta_local, "delta_local") < 1.0:
            raise InvalidInputError(
                f"Expected 0 <= delta_local < 1, got {self.delta_local:g}."
            )

    @property
    def num_users(self) -> int:
        """Number of users, the target user included."""
        return self.people.num_users

    @property
    def largest_budget(self) -> float:
        """The largest local budget of all users, the target user included."""
        # Levels of a population are in ascending order.
        return float(self.people.epsilons[-1])

    @property
    def failure(self) -> float:
        """The delta of every device: as it is allowed, or the mechanism's if larger."""
        own = 0.0 if self.mechanism is None else self.mechanism.delta_local
        return max(self.delta_local, own)

    @property
    def mechanism_name(self) -> str | None:
        """The randomizer's name, such as "laplace", or None for any randomizer."""
        return None if self.mechanism is None else self.mechanism.mechanism


@dataclass(frozen=True)
class BoundRow:
    """Texts about a bound; the attributes are those of `PublishedBound`."""

    name: str
    title: str
    source: str
    applies_to: str
    proven: Status
    note: str
    claim: str = ""
    mixed: bool = False
    within_budget: bool = True


_ROWS = {row.name: row for row in read_rows(BoundRow, "bounds", "bounds.toml")}


class PublishedBound:
    """One theorem of one paper, as printed.

    Attributes:
        name: Name in tables and on the command line, such as "feldman2021-closed".
        title: The title of the paper.
        source: Authors, year, arXiv number, and the number of the theorem.
        applies_to: Randomizers for which it is stated, in plain words.
        proven: Its proof status.
        note: In plain words, which parts hold and which do not.
        claim: Name of the record that judges it in the register of claims; "" if none does.
        mixed: Whether it is stated for users with different budgets.
        within_budget: Whether the search for epsilon ends at the largest local budget.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    applies_to: ClassVar[str]
    proven: ClassVar[Status]
    note: ClassVar[str]
    claim: ClassVar[str] = ""
    mixed: ClassVar[bool] = False
    within_budget: ClassVar[bool] = True

    def __init_subclass__(cls, *, row: str | None = None) -> None:
        """Takes the attributes of a bound from its row in bounds.toml, named by `row`."""
        super().__init_subclass__()
        if row is not None:
            for field in fields(BoundRow):
                setattr(cls, field.name, getattr(_ROWS[row], field.name))

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless the theorem speaks of this setting.

        By default it speaks of pure randomizers.
        """
        # Conditions that depend on epsilon or delta are checked by the formulas.
        check_pure(setting)

    def over(self, rounds: int) -> "PublishedBound | None":
        """Returns the paper's bound of several collections; None if it states none."""
        del rounds
        return None

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
        """Returns the formula's epsilon, or else the smallest with at most this delta.

        Called with checked numbers.
        """
        # A bound overrides this method or the next; the other is solved for. A bound that
        # overrides neither would call itself without end.
        ceiling = setting.largest_budget if self.within_budget else math.inf
        return epsilon_at(partial(self.stated_delta, setting), delta, ceiling=ceiling)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the formula's delta, or else the smallest with at most this epsilon."""
        return delta_at(partial(self.stated_epsilon, setting), epsilon)


def status_in(bound: PublishedBound, setting: Setting) -> Status:
    """Returns the proof status of a bound in this setting."""
    # A proof for one common budget does not cover several.
    covered = bound.mixed or setting.people.num_levels == 1
    if bound.proven == Status.PROVEN and not covered:
        return Status.UNPROVEN
    return bound.proven


def require(holds: bool, condition: str, values: str) -> None:
    """Raises OutsidePreconditions unless a theorem's condition holds.

    Args:
        holds: Whether it does; False also if it could not be decided.
        condition: The condition as the paper states it.
        values: The actual values, for the message.
    """
    if not holds:
        raise OutsidePreconditions(f"Expected {condition}, got {values}.")


def check_delta(delta: float) -> float:
    """Returns delta as a float; raises InvalidInputError unless it is in (0, 1)."""
    number = as_number(delta, "delta")
    # Written this way round, it refuses NaN, too.
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
    local = setting.failure
    require(local == 0.0, "pure local privacy, delta_local = 0", f"{local:g}")
