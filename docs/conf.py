"""How `scripts/build-docs` makes the site out of this folder."""

import inspect
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from shuffledp import __version__

project = "shuffledp"
author = "The shuffledp contributors"
project_copyright = author
release = version = __version__

# Numbers that another page includes.
exclude_patterns = [
    "reference/comparison-numbers.md",
    "reference/comparison-real-data.md",
]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# Anchors of headings, as they are used between pages: `theorem.md#absent-people`.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

# Notebooks run where nothing of them is cached, and a cell that fails fails the build.
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_cache_path = str(
    Path(__file__).parents[1] / "build" / "docs" / "notebooks"
)
nb_merge_streams = True

# Docstrings say shapes and units, which annotations do not.
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "member-order": "bysource"}
default_role = "code"
napoleon_use_ivar = True
napoleon_use_rtype = False

html_static_path = ["static"]
html_css_files = ["pictures.css"]
html_js_files = ["scrolling.js"]
html_theme = "furo"
html_title = f"shuffledp {version}"
html_copy_source = False
html_show_sourcelink = False


def absolute_values_stay(
    _app: Sphinx,
    _kind: str,
    _name: str,
    _documented: Any,
    _options: Any,
    lines: list[str],
) -> None:
    """Keeps |x| what it is in the docstrings: reStructuredText substitutes it."""
    lines[:] = [re.sub(r"\|(?=\S[^|]*\|)|(?<=\S)\|", r"\\|", line) for line in lines]


def sentences_are_no_types(
    _app: Sphinx,
    kind: str,
    _name: str,
    documented: Any,
    _options: Any,
    lines: list[str],
) -> None:
    """Keeps what stands before a colon in the sentence that describes a property."""
    if kind == "property":
        lines[:] = (inspect.getdoc(documented) or "").splitlines()


def setup(app: Sphinx) -> None:
    """Listens, before and after Napoleon has read the sections of a docstring."""
    app.connect("autodoc-process-docstring", absolute_values_stay, priority=400)
    app.connect("autodoc-process-docstring", sentences_are_no_types, priority=600)
