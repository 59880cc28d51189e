"""What people cite is what is here."""

from pathlib import Path

import pytest

import shuffledp

FILE = Path(shuffledp.__file__).parents[2] / "CITATION.cff"


@pytest.mark.skipif(not FILE.is_file(), reason="CITATION.cff is not here")
def test_version_and_licence_are_the_packages_and_papers_are_those_implemented() -> (
    None
):
    text = FILE.read_text(encoding="utf-8")

    assert f"\nversion: {shuffledp.__version__}\n" in text
    assert "\nlicense: Apache-2.0\n" in text
    bibliography = (FILE.parent / "docs" / "papers" / "bibliography.md").read_text(
        "utf-8"
    )
    numbers = [line.rsplit("/", 1)[1] for line in text.splitlines() if "arxiv" in line]
    assert len(numbers) == 3
    assert all(number in bibliography for number in numbers)
