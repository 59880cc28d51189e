"""Two questions of a form that are counted together, without a third one.

A cell is a bucket of one question and one of the other, in mixed radix: with coordinates
(question, width, buckets), each as a level of `asked_number`, the last varies fastest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.asked_number import AskedNumber
from shuffledp.errors import InvalidInputError

Coordinate = tuple[int, int, int]
Cells = tuple[Coordinate, ...]


@dataclass(frozen=True)
class AskedCombination:
    """The joint table of two choices, or the mean of a number by a choice.

    >>> AskedCombination((0, 1), (((0, 1, 4), (1, 1, 2)),)).to_dict()
    {'of': [0, 1], 'groups': [[[0, 1, 4], [1, 1, 2]]]}

    Attributes:
        of: Positions of the two questions in the form, the choice first.
        groups: Coordinates of each group of cells.
    """

    of: tuple[int, int]
    groups: tuple[Cells, ...]

    def __post_init__(self) -> None:
        of = _whole_numbers(self.of, 2)
        if of[0] == of[1]:
            raise InvalidInputError("Expected two different questions to be combined.")
        if not isinstance(self.groups, Sequence) or not self.groups:
            raise InvalidInputError("Expected groups of cells.")
        groups = []
        for cells in self.groups:
            if not isinstance(cells, Sequence) or len(cells) != 2:
                raise InvalidInputError("Expected cells of two coordinates.")
            groups.append(tuple(_whole_numbers(coordinate, 3) for coordinate in cells))
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "groups", tuple(groups))

    @classmethod
    def among(
        cls, questions: Sequence[Any], first: int, second: int
    ) -> "AskedCombination":
        """Returns the combination of two questions of a form.

        Args:
            questions: Of the form, in their order.
            first: Position of a choice of one option.
            second: Position of another one, or of a number whose mean is estimated.

        Raises:
            InvalidInputError: If they are other questions.
        """
        first_question, second_question = (
            _at(questions, index) for index in (first, second)
        )
        number = second_question if isinstance(second_question, AskedNumber) else None
        picked = [first_question] if number else [first_question, second_question]
        if any(getattr(asked, "most", 0) != 1 for asked in picked) or (
            number and number.steps is None
        ):
            raise InvalidInputError(
                "Expected a choice of one option beside another, or beside a number of "
                "kind number."
            )
        levels = (
            number.stated_levels if number else ((1, len(second_question.options)),)
        )
        options = len(first_question.options)
        return cls(
            (first, second),
            tuple(((first, 1, options), (second, *level)) for level in levels),
        )

    @property
    def text_lists(self) -> tuple[tuple[str, ...], ...]:
        """No texts of its own."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        groups = [[list(coordinate) for coordinate in cells] for cells in self.groups]
        return {"of": list(self.of), "groups": groups}


def _at(questions: Sequence[Any], index: int) -> Any:
    if not 0 <= index < len(questions):
        raise InvalidInputError("Expected questions of the form to be combined.")
    return questions[index]


def _whole_numbers(value: object, count: int) -> Any:
    is_list = isinstance(value, Sequence) and len(value) == count
    if not is_list or any(type(number) is not int for number in value):  # type: ignore[attr-defined]
        raise InvalidInputError(f"Expected {count} whole numbers of a combination.")
    return tuple(value)  # type: ignore[arg-type]
