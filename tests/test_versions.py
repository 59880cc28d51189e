"""The distributions of this repository are released together."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import shuffledp

ROOT = Path(shuffledp.__file__).parents[2]
OTHERS = [ROOT / name / "pyproject.toml" for name in ("services", "papers")]

pytestmark = pytest.mark.skipif(
    not all(path.is_file() for path in OTHERS),
    reason="services/ and papers/ are not here",
)


def project(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        found: dict[str, Any] = tomllib.load(file)["project"]
    return found


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.parent.name)
def test_distributions_have_one_version(path: Path) -> None:
    assert project(path)["version"] == shuffledp.__version__


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.parent.name)
def test_what_is_built_on_the_library_needs_the_same_version(path: Path) -> None:
    declared = project(path)
    extras = declared.get("optional-dependencies", {}).values()
    needed = [*declared["dependencies"], *(line for lines in extras for line in lines)]

    own = [line for line in needed if re.match(r"shuffledp\b(?!-)", line)]

    assert own
    assert all(line.endswith(f"=={shuffledp.__version__}") for line in own)


def test_licences_are_the_same() -> None:
    licences = [(path.parent / "LICENSE").read_bytes() for path in OTHERS]

    assert set(licences) == {(ROOT / "LICENSE").read_bytes()}
