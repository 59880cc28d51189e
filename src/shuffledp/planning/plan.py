"""What a planner is asked, and what it answers."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shuffledp.accounting.account import account
from shuffledp.accounting.calibration import largest_budgets
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.promise import Promise
from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp.planning.collection_design import (
    CollectionDesign,
    Yardstick,
    recommended,
)
from shuffledp.planning.error_picture import errors_picture
from shuffledp.population import Population
from shuffledp.report.matplotlib_picture import MatplotlibPicture
from shuffledp.text_tables import TextTable, as_html, as_text

if TYPE_CHECKING:
    import polars as pl

NO_INFORMATION = "messages of people at level 0 carry no information."


@dataclass(frozen=True)
class Wish:
    """What the collection must keep: levels on the device, or targets after the shuffle.

    >>> wish = Wish(targets={0.05: 3_000, 0.1: 1_000}, delta=1e-6)
    >>> wish.num_users
    4000

    Attributes:
        levels: {privacy level: people}, or None.
        targets: {central epsilon: people}, or None; each protocol then gets the largest
            levels that keep them.
        delta: At which central guarantees are stated, in (0, 1).
        absent: How many of the other people may be absent or collude.
    """

    levels: Mapping[float, int] | None = None
    targets: Mapping[float, int] | None = None
    delta: float = 1e-6
    absent: int = 0

    def __post_init__(self) -> None:
        for given in (self.levels, self.targets):
            if given is not None and not isinstance(given, Mapping):
                raise InvalidInputError(
                    f"Expected {{epsilon: people}}, got {type(given).__name__}."
                )
        if (self.levels is None) == (self.targets is None):
            raise InvalidInputError(
                "Expected either privacy levels or central targets, and not both."
            )
        Population.from_counts(dict(self.asked))

    @property
    def asked(self) -> Mapping[float, int]:
        """Levels or targets, whichever was given, and people at each."""
        given = self.targets if self.levels is None else self.levels
        return given or {}

    @property
    def num_users(self) -> int:
        """How many people there are."""
        return sum(self.asked.values())

    @property
    def strictest(self) -> "Wish":
        """The same, if everybody got what the most careful person asks for."""
        one = {min(self.asked): self.num_users}
        if self.levels is None:
            return replace(self, targets=one)
        return replace(self, levels=one)

    def fit(self, protocol: Any) -> tuple[Population, Guarantee]:
        """Returns the levels for a protocol, and what they are worth.

        Raises:
            CertificationError: If no levels are found.
        """
        if self.targets is not None:
            promise = Promise(protocol, self.delta, self.absent)
            answer = largest_budgets(promise, self.targets)
            return answer.people, answer.guarantee
        people = Population.from_counts(dict(self.asked))
        guarantee = account(
            protocol, people, delta=self.delta, absent=self.absent, quantiles=False
        )
        return people, guarantee


def predictable(error_of: Callable[[Population], float], people: Population) -> float:
    """Returns a predicted error, infinite where messages carry no information."""
    try:
        return error_of(people)
    except InvalidInputError:
        return math.inf


def check_wish(wish: Wish) -> None:
    """Raises InvalidInputError unless this is a wish."""
    if not isinstance(wish, Wish):
        raise InvalidInputError(f"Expected a Wish, got {type(wish).__name__}.")


@dataclass(frozen=True, eq=False, repr=False)
class ProtocolPlan:
    """Options, the best of them first, and yardsticks.

    Attributes:
        statistic: "mean" or "frequency".
        wish: What was asked for.
        options: In ascending order of error, at least one.
        yardsticks: Errors of other models at the same guarantees.
        left_out: Mechanisms that were not considered or failed, with the reason.
    """

    statistic: str
    wish: Wish
    options: tuple[CollectionDesign, ...]
    yardsticks: tuple[Yardstick, ...]
    left_out: tuple[str, ...]

    @property
    def recommended(self) -> CollectionDesign:
        """The smallest error among those that are unbiased."""
        return recommended(self.options)

    @property
    def reason(self) -> str:
        """Why it is recommended, in a few sentences."""
        best = self.recommended
        others = [o for o in self.options if o is not best and o.mode == best.mode]
        # Biased options may have a smaller error.
        others = [o for o in others if o.error >= best.error]
        among = " of those without bias" if best.error > self.options[0].error else ""
        if not among and any(option.bias_limit for option in self.options):
            among = ", limits of bias included"
        words = [f"{best.name} ({best.mode}) has the smallest predicted error{among}"]
        if others and best.error > 0.0:
            second = min(others, key=lambda option: option.error)
            factor = second.error / best.error
            words.append(f"; that of the next, {second.name}, is {factor:.3g} times it")
        at = "levels" if self.wish.targets is None else "central guarantees"
        words.append(f", all at the same {at}.")
        if self.wish.targets is None:
            weakest = best.guarantee.worst.epsilon_central
            safest = min(self.options, key=lambda o: o.guarantee.worst.epsilon_central)
            if safest.guarantee.worst.epsilon_central < 0.99 * weakest:
                words.append(
                    f" The strongest central guarantee at these levels is that of "
                    f"{safest.name} ({safest.mode}): ask for central targets to compare "
                    "at equal guarantees."
                )
        if best.mode == "agnostic":
            words.append(
                " It is unbiased if levels do not depend on values; if they may, take "
                "the best stratified one."
            )
        return "".join(words)

    def to_frame(self) -> "pl.DataFrame":
        """Returns the options as a Polars data frame, the best of them first."""
        # The planner itself needs no tables.
        import polars as pl

        return pl.DataFrame(
            {
                "protocol": [option.name for option in self.options],
                "mode": [option.mode for option in self.options],
                "standard_error": [option.standard_error for option in self.options],
                "bias_limit": [option.bias_limit for option in self.options],
                "bits_per_person": [option.bits for option in self.options],
                "largest_epsilon_central": [
                    option.largest_epsilon for option in self.options
                ],
            }
        )

    def plot(self) -> MatplotlibPicture:
        """Returns the predicted errors of all options, as a picture.

        Raises:
            MissingExtraError: If the report extra is not installed.
        """
        return errors_picture(
            [f"{option.name}, {option.mode}" for option in self.options],
            [option.error for option in self.options],
            recommended=self.options.index(self.recommended),
        )

    def view(self) -> TextTable:
        """Returns the options, the recommendation, and what to beware of with it."""
        at = "levels" if self.wish.targets is None else "central targets"
        return TextTable(
            f"Protocols for the {self.statistic} of {self.wish.num_users:,} people, at "
            f"the same {at} and delta = {plain(self.wish.delta)}",
            ("protocol", "mode", "error", "largest central epsilon"),
            tuple(
                (o.name, o.mode, f"{o.error:.3g}", plain(o.largest_epsilon))
                for o in self.options
            ),
            self.recommended.guarantee.cautions,
            (f"Recommended: {self.reason}",),
        )

    def __str__(self) -> str:
        """Returns the table of options, for a screen."""
        return as_text(self.view())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.view())

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as plain values; an infinite error is None."""
        return {
            "statistic": self.statistic,
            "delta": self.wish.delta,
            "absent": self.wish.absent,
            "levels": _people_at(self.wish.levels),
            "targets": _people_at(self.wish.targets),
            "recommended": {
                "name": self.recommended.name,
                "mode": self.recommended.mode,
                "reason": self.reason,
            },
            "options": [
                {
                    "name": option.name,
                    "mode": option.mode,
                    "standard_error": _finite(option.standard_error),
                    "bias_limit": _finite(option.bias_limit),
                    "bits_per_person": option.bits,
                    "guarantee": option.guarantee.to_dict(),
                }
                for option in self.options
            ],
            "yardsticks": [
                {
                    "name": y.name,
                    "standard_error": _finite(y.standard_error),
                    "meaning": y.meaning,
                }
                for y in self.yardsticks
            ],
            "left_out": list(self.left_out),
        }


def _people_at(asked: Mapping[float, int] | None) -> dict[str, int] | None:
    """Returns how many people asked for what, in ascending order, for JSON."""
    if asked is None:
        return None
    return {f"{float(epsilon)!r}": int(n) for epsilon, n in sorted(asked.items())}


def _finite(number: float) -> float | None:
    """Returns a number for JSON, which has no infinity."""
    return number if math.isfinite(number) else None
