"""Subset selection: the message is a set of w of the k categories.

Sets that contain the person's value are e^eps times as likely as others. With w = 1 it is
k-ary response; a w near k / (e^eps + 1) has the smallest error.

Sources: Ye, Barg (2018), "Optimal schemes for discrete distribution estimation under
locally differential privacy"; Wang et al. (2019), "Local private subset selection".
"""

from dataclasses import dataclass

from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.set_response import Overlaps, SetResponse

_MOST = 2**31


@dataclass(frozen=True, slots=True)
class SubsetSelection(SetResponse):
    """Public parameters only.

    Attributes:
        num_categories: k, at least 2.
        subset_size: w, from 1 to k - 1; the same at every level, so that all messages
            look alike.
    """

    num_categories: int
    subset_size: int

    def __post_init__(self) -> None:
        whole_number(self.num_categories, "categories", least=2, most=_MOST)
        most = self.num_categories - 1
        whole_number(self.subset_size, "categories per subset", least=1, most=most)

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "subset-selection"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {
            "categories": int(self.num_categories),
            "subset_size": int(self.subset_size),
        }

    @property
    def overlaps(self) -> Overlaps:
        """Shares of the subsets that contain one, two or three given categories."""
        k, w = int(self.num_categories), int(self.subset_size)
        both = w * (w - 1) / (k * (k - 1))
        return Overlaps(w / k, both, both * (k - w) / (k - 2) if k > 2 else None)
