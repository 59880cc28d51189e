"""A browser as fixtures: `pytest_plugins = ["browser_fixtures"]`.

PYTEST_DONT_REWRITE: several modules name it.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shuffledp_services.participant import page_folder

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Needs the extra dev."
    )
    if not CHROMIUM.exists():
        pytest.skip("No Chromium here.")
    if page_folder() is None:
        pytest.skip("scripts/build-page was not run.")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a small screen, on which no script may complain."""
    context = browser.new_context(viewport={"width": 360, "height": 740})
    # Patience costs nothing where nothing is wrong.
    context.set_default_timeout(60_000)
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    context.close()
    # Refused uploads are reported by the browser itself.
    complaints = [text for text in said if "Failed to load resource" not in text]
    assert complaints == []
