"""Questions of a form that are counted together, without another one.

A cell is a bucket of each of two to four questions, in mixed radix: with coordinates
(question, width, buckets), each as a level of `asked_number`, the last varies fastest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from shuffledp.asked_number import AskedNumber
from shuffledp.errors import InvalidInputError

Coordinate = tuple[int, int, int]
Cells = tuple[Coordinate, ...]
# Every further question multiplies the cells, and with them the errors of a sum over
# cells.
MOST_COMBINED = 4


@dataclass(frozen=True)
class AskedCombination:
    """The joint table of two to four choices, or the mean of a number by a choice.

    >>> AskedCombination((0, 1), (((0, 1, 4), (1, 1, 2)),)).to_dict()
    {'of': [0, 1], 'groups': [[[0, 1, 4], [1, 1, 2]]]}

    Attributes:
        of: Positions of two to four questions in the form, choices before a number.
        groups: Coordinates of each group of cells, one of each question.
    """

    of: tuple[int, ...]
    groups: tuple[Cells, ...]

    def __post_init__(self) -> None:
        _check_size(self.of)
        of = _whole_numbers(self.of, len(self.of))
        if len(set(of)) < len(of):
            raise InvalidInputError("Expected different questions to be combined.")
        if not _is_list(self.groups) or not self.groups:
            raise InvalidInputError("Expected groups of cells.")
        groups = []
        for cells in self.groups:
            if not _is_list(cells) or len(cells) != len(of):
                raise InvalidInputError(f"Expected cells of {len(of)} coordinates.")
            groups.append(tuple(_whole_numbers(coordinate, 3) for coordinate in cells))
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "groups", tuple(groups))

    @classmethod
    def among(cls, questions: Sequence[Any], *of: int) -> "AskedCombination":
        """Returns the combination of some questions of a form.

        Args:
            questions: Of the form, in their order.
            of: Positions of two to four choices of one option; or of one and of a number
                whose mean is estimated.

        Raises:
            InvalidInputError: If they are other questions.
        """
        _check_size(of)
        combined = [_question_at(questions, index) for index in of]
        number = combined[-1] if isinstance(combined[-1], AskedNumber) else None
        choices = combined[:-1] if number else combined
        if any(getattr(asked, "most", 0) != 1 for asked in choices) or (
            number and (number.steps is None or len(choices) != 1)
        ):
            raise InvalidInputError(
                "Expected choices of one option, or one of them beside a number of kind "
                "number."
            )
        # An option is its position: buckets of width 1, as many as there are options.
        choice_cells = tuple(
            (index, 1, len(asked.options))
            for index, asked in zip(of[: len(choices)], choices, strict=True)
        )
        if number is None:
            return cls(of, (choice_cells,))
        # A mean needs people who chose and stated a number: buckets of skipped digits
        # are left out.
        levels = number.stated_levels
        return cls(of, tuple((*choice_cells, (of[-1], *level)) for level in levels))

    @property
    def text_lists(self) -> tuple[tuple[str, ...], ...]:
        """No texts of its own."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        groups = [[list(coordinate) for coordinate in cells] for cells in self.groups]
        return {"of": list(self.of), "groups": groups}


def _question_at(questions: Sequence[Any], index: int) -> Any:
    if not 0 <= index < len(questions):
        raise InvalidInputError("Expected questions of the form to be combined.")
    return questions[index]


def _check_size(of: object) -> None:
    """Raises InvalidInputError unless there are as many positions as can be combined."""
    if not _is_list(of) or not 2 <= len(of) <= MOST_COMBINED:
        raise InvalidInputError(
            f"Expected 2 to {MOST_COMBINED} questions to be combined."
        )


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _whole_numbers(value: object, count: int) -> Any:
    if (
        not _is_list(value)
        or len(value) != count
        or any(type(number) is not int for number in value)
    ):
        raise InvalidInputError(f"Expected {count} whole numbers of a combination.")
    return tuple(value)
