"""Result of a planner."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shuffledp.accounting.calibration.calibrated_population import level_records
from shuffledp.format_number import finite_or_none, plain
from shuffledp.matplotlib_picture import MatplotlibPicture
from shuffledp.planning.collection_design import (
    CollectionDesign,
    ValueAssumption,
    Yardstick,
    recommended,
)
from shuffledp.planning.error_picture import errors_picture
from shuffledp.planning.wish import Wish
from shuffledp.text_tables import TextTable, as_html, as_text

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class ProtocolPlan:
    """Designs of a collection in order of error, and yardsticks.

    Attributes:
        statistic: The name of the statistic.
        wish: The requirements.
        options: Designs in ascending order of error, at least one.
        yardsticks: Errors of other models at the same guarantees.
        assumption: Of predicted errors, about people's values.
        left_out: Mechanisms that were not considered or failed, with the reason.
    """

    statistic: str
    wish: Wish
    options: tuple[CollectionDesign, ...]
    yardsticks: tuple[Yardstick, ...]
    assumption: ValueAssumption
    left_out: tuple[str, ...]

    @property
    def recommended(self) -> CollectionDesign:
        """The unbiased design of smallest error, if one is unbiased."""
        return recommended(self.options)

    @property
    def reason(self) -> str:
        """The reason for the recommendation, in a few sentences."""
        first_choice = self.recommended
        others = [
            o
            for o in self.options
            if o is not first_choice and o.mode == first_choice.mode
        ]
        # Biased options may have a smaller error.
        others = [o for o in others if o.error >= first_choice.error]
        # Options are in order of error: a smaller one was passed over for its bias.
        among = (
            " of those without bias"
            if first_choice.error > self.options[0].error
            else ""
        )
        if not among and any(design.bias_limit for design in self.options):
            among = ", limits of bias included"
        words = [
            f"{first_choice.name} ({first_choice.mode}) has the smallest predicted "
            f"error{among}"
        ]
        if others and first_choice.error > 0.0:
            second = min(others, key=lambda design: design.error)
            factor = second.error / first_choice.error
            words.append(f"; that of the next, {second.name}, is {factor:.3g} times it")
        compared_at = "levels" if self.wish.targets is None else "central guarantees"
        words.append(f", all at the same {compared_at}.")
        if self.wish.targets is None:
            weakest = first_choice.guarantee.worst.epsilon_central
            safest = min(self.options, key=lambda o: o.guarantee.worst.epsilon_central)
            # Below 1 % the difference is not worth a sentence.
            if safest.guarantee.worst.epsilon_central < 0.99 * weakest:
                words.append(
                    f" The strongest central guarantee of these protocols is that of "
                    f"{safest.name} ({safest.mode}): ask for central targets to compare "
                    "at equal guarantees."
                )
        if first_choice.mode == "agnostic":
            words.append(
                " It is unbiased if levels do not depend on values; if they may, take "
                "the best stratified one."
            )
        return "".join(words)

    @property
    def assumed(self) -> str:
        """Assumption of predicted errors, and errors of other values, in sentences."""
        first_choice, words = self.recommended, self.assumption.meaning
        if first_choice.largest_error is None:
            return words
        words += (
            f" With other values the error of {first_choice.name} "
            f"({first_choice.mode}) is up to about {first_choice.largest_error:.3g}"
        )
        rivals = [
            (design.largest_error, f"{design.name} ({design.mode})")
            for design in self.options
            if design.largest_error is not None
            and (design.bias_limit == 0.0 or first_choice.bias_limit > 0.0)
        ]
        rival_error, name = min(rivals)
        # Below 1 % the difference is not worth a clause.
        if rival_error < 0.99 * first_choice.largest_error:
            words += f", and that of {name} only up to about {rival_error:.3g}"
        return f"{words}."

    def to_frame(self) -> "pl.DataFrame":
        """Returns the designs as a Polars data frame, the best one first."""
        # Imported on use: the planner itself needs no tables.
        import polars as pl

        return pl.DataFrame(
            {
                "protocol": [design.name for design in self.options],
                "mode": [design.mode for design in self.options],
                "standard_error": [design.standard_error for design in self.options],
                "bias_limit": [design.bias_limit for design in self.options],
                "bits_per_person": [design.bits for design in self.options],
                "largest_epsilon_central": [
                    design.largest_epsilon for design in self.options
                ],
            }
        )

    def plot(self) -> MatplotlibPicture:
        """Draws the predicted errors of all designs.

        Raises:
            MissingExtraError: If the report extra is not installed.
        """
        return errors_picture(
            [f"{design.name}, {design.mode}" for design in self.options],
            [design.error for design in self.options],
            # Designs are compared as objects: `index` finds this one, and not one like
            # it.
            recommended=self.options.index(self.recommended),
        )

    def view(self) -> TextTable:
        """Returns the designs, the recommendation, and its cautions."""
        compared_at = "levels" if self.wish.targets is None else "central targets"
        return TextTable(
            f"Protocols for the {self.statistic} of {self.wish.num_users:,} people, at "
            f"the same {compared_at} and delta = {plain(self.wish.delta)}",
            ("protocol", "mode", "error", "largest central epsilon"),
            tuple(
                (o.name, o.mode, f"{o.error:.3g}", plain(o.largest_epsilon))
                for o in self.options
            ),
            self.recommended.guarantee.cautions,
            (f"Recommended: {self.reason}", self.assumed),
        )

    def __str__(self) -> str:
        """Returns the table of designs, as text."""
        return as_text(self.view())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.view())

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as plain values, for JSON; an infinite error is None."""
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
            "assumed": {**self.assumption.values, "meaning": self.assumed},
            "options": [
                {
                    "name": design.name,
                    "mode": design.mode,
                    "standard_error": finite_or_none(design.standard_error),
                    "bias_limit": finite_or_none(design.bias_limit),
                    "largest_error": None
                    if design.largest_error is None
                    else finite_or_none(design.largest_error),
                    "bits_per_person": design.bits,
                    "levels": level_records(design.people, design.targets),
                    "guarantee": design.guarantee.to_dict(),
                }
                for design in self.options
            ],
            "yardsticks": [
                {
                    "name": y.name,
                    "standard_error": finite_or_none(y.standard_error),
                    "meaning": y.meaning,
                }
                for y in self.yardsticks
            ],
            "left_out": list(self.left_out),
        }


def _people_at(asked: Mapping[float, int] | None) -> dict[str, int] | None:
    """Returns people per level or target, in ascending order, for JSON."""
    if asked is None:
        return None
    # JSON has texts as keys; `repr` keeps all digits of a level.
    return {f"{float(epsilon)!r}": int(n) for epsilon, n in sorted(asked.items())}
