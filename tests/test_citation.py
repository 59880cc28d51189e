"""The file of citation has the version and the licence of the package."""

from pathlib import Path

import pytest

import shuffledp

FILE = Path(shuffledp.__file__).parents[2] / "CITATION.cff"


@pytest.mark.skipif(not FILE.is_file(), reason="CITATION.cff is not here")
def test_version_and_licence_are_those_of_the_package() -> None:
    text = FILE.read_text(encoding="utf-8")

    assert f"\nversion: {shuffledp.__version__}\n" in text
    assert "\nlicense: Apache-2.0\n" in text
