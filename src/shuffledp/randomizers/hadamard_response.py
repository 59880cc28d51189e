"""Hadamard response: the message is a column in which the value's row has a +1.

Value v owns row v + 1 of the Hadamard matrix of order K, the smallest power of 2 above k.
Columns with +1 in that row are e^eps times as likely as the others. Two rows agree in
half of the columns, and half of those have +1.

Source: Acharya, Sun, Zhang (2019), "Hadamard response: estimating distributions privately,
efficiently, and with little communication".
"""

from dataclasses import dataclass

from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.set_response import Overlaps, SetResponse

_MOST = 2**31


@dataclass(frozen=True, slots=True)
class HadamardResponse(SetResponse):
    """Public parameters only.

    Attributes:
        num_categories: k, at least 2.
    """

    num_categories: int

    def __post_init__(self) -> None:
        whole_number(self.num_categories, "categories", least=2, most=_MOST)

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "hadamard-response"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"categories": int(self.num_categories)}

    @property
    def overlaps(self) -> Overlaps:
        """Rows 1 and 2 multiply to row 3, which is -1 where only one of them is +1."""
        return Overlaps(0.5, 0.25, 0.0 if self.num_categories > 2 else None)
