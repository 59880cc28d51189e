"""The five documents, each with what it contains."""

from dataclasses import dataclass

from shuffledp.papers.contents.paper_item import PaperItem
from shuffledp.papers.toml_tables import read_table


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
    contents: tuple[PaperItem, ...]


PAPERS = tuple(
    read_table(Paper, folder, "contents.toml")
    for folder in ("eapes", "apes", "lecture_notes", "hypothesis_testing", "segmented")
)
