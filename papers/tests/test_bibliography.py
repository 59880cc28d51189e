"""The bibliography names what the code names, and files that are there."""

import re
from pathlib import Path

import pytest

import shuffledp
import shuffledp_papers
from shuffledp_papers.apes.user_level import SparsifiedApes
from shuffledp_papers.bounds.bound import PublishedBound
from shuffledp_papers.bounds.published_bounds import PUBLISHED
from shuffledp_papers.segmented.privacy import SegmentedPrivacy

SOURCE = Path(shuffledp.__file__).parent
PACKAGES = (SOURCE, Path(str(shuffledp_papers.__file__)).parent)
CODE = [path for package in PACKAGES for path in package.rglob("*.py")]
ROOT = SOURCE.parents[1]
DOCS = ROOT / "docs"
PAGE = DOCS / "papers" / "bibliography.md"
ARXIV = re.compile(r"\b\d{4}\.\d{5}\b")
BOUNDS = [
    *sorted({type(bound) for bound in PUBLISHED}, key=lambda kind: kind.name),
    SparsifiedApes,
    SegmentedPrivacy,
]

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="docs/ is not here")


def words() -> str:
    """The page on one line, without the marks of titles."""
    return " ".join(PAGE.read_text(encoding="utf-8").replace("*", "").split())


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.name)
def test_every_published_bound_is_listed_by_the_title_of_its_paper(
    bound: type[PublishedBound],
) -> None:
    assert bound.title.lower() in words().lower()


def test_every_number_of_arxiv_in_code_and_docs_is_listed() -> None:
    texts = [
        *CODE,
        *(p for p in DOCS.rglob("*.md") if p != PAGE),
    ]
    named = {
        number
        for path in texts
        for line in path.read_text(encoding="utf-8").splitlines()
        if "arXiv" in line
        for number in ARXIV.findall(line)
    }

    assert len(named) >= 10
    assert named <= set(ARXIV.findall(words()))


def test_papers_that_are_cited_are_listed() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()

    cited = {line.rsplit("/", 1)[1] for line in lines if "arxiv" in line}

    assert len(cited) == 3
    assert cited <= set(ARXIV.findall(words()))


@pytest.mark.slow
def test_modules_and_public_names_on_the_page_are_there() -> None:
    quoted = set(re.findall(r"`([^` ]+)`", PAGE.read_text(encoding="utf-8")))
    files = {name for name in quoted if name.endswith(".py")}
    public = {name for name in quoted if re.fullmatch(r"[A-Z]\w+", name)}

    assert len(files) >= 10
    assert len(public) >= 10
    roots = [ROOT, *ROOT.glob("**/src")]
    assert {
        f for f in files if not any((root / f).is_file() for root in roots)
    } == set()
    assert public <= set(shuffledp.__all__)


def test_no_paper_is_named_by_the_number_of_a_file() -> None:
    texts = [
        *CODE,
        *DOCS.rglob("*.md"),
        *DOCS.rglob("*.svg"),
    ]

    numbered = [
        path.name
        for path in texts
        if re.search(r"[Dd]ocument 00\d", path.read_text(encoding="utf-8"))
    ]

    assert numbered == []
