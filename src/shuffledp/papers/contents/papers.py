"""The five documents, each with what it contains."""

from dataclasses import dataclass

from shuffledp.papers.apes import contents as apes
from shuffledp.papers.contents.entry import Entry
from shuffledp.papers.eapes import contents as eapes
from shuffledp.papers.hypothesis_testing import contents as hypothesis_testing
from shuffledp.papers.lecture_notes import contents as lecture_notes
from shuffledp.papers.segmented import contents as segmented


@dataclass(frozen=True)
class Paper:
    """A document that is implemented here.

    Attributes:
        name: How it is called.
        reference: Authors, year, title.
        prefix: Of the names of its experiments.
        contents: All that is in it.
    """

    name: str
    reference: str
    prefix: str
    contents: tuple[Entry, ...]


PAPERS = (
    Paper(
        "E-APES",
        "Chen, Cao, Ge (2023), Enhancing Privacy in Personalized Differential Privacy "
        "under the Shuffle Model",
        "eapes",
        eapes.CONTENTS,
    ),
    Paper(
        "APES and S-APES",
        "Liu, Zhao, Xiong, Liu, Chen (2023), Echo of Neighbors: Privacy Amplification for "
        "Personalized Private Federated Learning with Shuffle Model",
        "apes",
        apes.CONTENTS,
    ),
    Paper(
        "Lecture notes",
        "Di Wang, Lecture 9: Local and Shuffle Differential Privacy",
        "notes",
        lecture_notes.CONTENTS,
    ),
    Paper(
        "Hypothesis testing",
        "Liu, Liu, Xiong, Gu, Chen (2024), Enhanced Privacy Bound for Shuffle Model with "
        "Personalized Privacy",
        "testing",
        hypothesis_testing.CONTENTS,
    ),
    Paper(
        "Segmented",
        "Wang et al. (2025), Segmented Private Data Aggregation in the Multi-message "
        "Shuffle Model",
        "segmented",
        segmented.CONTENTS,
    ),
)
