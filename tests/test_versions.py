"""The distributions of this repository are released together."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import shuffledp

ROOT = Path(shuffledp.__file__).parents[2]
OTHERS = [ROOT / name / "pyproject.toml" for name in ("services", "papers")]
DEVICE = ROOT / "device"
PAGE = ROOT / "services/src/shuffledp_services/participant/page"

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


def test_the_device_has_the_version_of_the_distributions() -> None:
    own = json.loads((DEVICE / "package.json").read_text())
    locked = json.loads((DEVICE / "package-lock.json").read_text())
    installed = json.loads((PAGE / "package-lock.json").read_text())["packages"]

    assert own["version"] == locked["version"] == shuffledp.__version__
    assert installed["node_modules/shuffledp-device"]["version"] == own["version"]


def test_packages_from_a_registry_are_locked_by_their_content_alone() -> None:
    for folder in (DEVICE, PAGE):
        packages = json.loads((folder / "package-lock.json").read_text())["packages"]
        del packages[""]
        for name, locked in packages.items():
            if name == "node_modules/shuffledp-device":
                assert locked["resolved"].startswith("file:../")
            else:
                assert "resolved" not in locked
                assert locked["integrity"].startswith("sha512-")


def test_licences_are_the_same() -> None:
    folders = [DEVICE, *(path.parent for path in OTHERS)]
    licences = [(folder / "LICENSE").read_bytes() for folder in folders]

    assert set(licences) == {(ROOT / "LICENSE").read_bytes()}
