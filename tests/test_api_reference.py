"""The site's API reference: every public name is in it, and shows how it is used."""

import importlib
import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import shuffledp

PAGES = Path(shuffledp.__file__).parents[2] / "docs" / "reference" / "api"
PUBLIC = ("shuffledp", "shuffledp_services.spark", "shuffledp.testing")
HAS_SPARK = all(map(importlib.util.find_spec, ("shuffledp_services", "pyspark")))

pytestmark = pytest.mark.skipif(not PAGES.is_dir(), reason="docs/ is not here")


def entries() -> list[str]:
    """Full names, in the order of pages."""
    found = []
    for page in sorted(PAGES.glob("*.md")):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
                module = match[1] + "."
            if match := re.fullmatch(r"\.\. auto\w+:: (\S+)", line):
                found.append(module + match[1])
    return found


def named(entry: str) -> Any:
    module, _, name = entry.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_every_public_name_is_an_entry_and_none_is_there_twice() -> None:
    public = {
        f"{module}.{name}"
        for module in PUBLIC
        if module != "shuffledp_services.spark" or HAS_SPARK
        for name in importlib.import_module(module).__all__
        if not name.startswith("__")
    }

    assert len(set(entries())) == len(entries())
    assert public <= set(entries())


@pytest.mark.parametrize("entry", entries())
def test_every_entry_has_an_example(entry: str) -> None:
    if entry.startswith("shuffledp_services.spark."):
        pytest.importorskip("shuffledp_services", reason="Needs shuffledp-services.")
        pytest.importorskip("pyspark", reason="Needs shuffledp-services[spark].")
    found = named(entry)
    texts = [inspect.getdoc(found)]
    if inspect.isclass(found):
        texts += [inspect.getdoc(member) for member in vars(found).values()]

    assert any(">>> " in text for text in texts if text)
