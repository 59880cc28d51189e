"""Imports point one way: what a device runs knows nothing about who looks at it."""

from pathlib import Path

import pytest
from imported_modules import imported_modules, in_order

import shuffledp

ROOT = Path(shuffledp.__file__).parent
BASE = {
    "arguments",
    "arrays",
    "types",
    "errors",
    "randomness",
    "population",
    "budget_distributions",
    "extras",
    "extension_loading",
    "cover",
    "identity",
    "reports",
    "near_duplicate_labels",
    "stored_state",
    "display_text",
    "format_number",
    "number_range",
    "number_text",
    "option_text",
    "asked_combination",
    "asked_number",
    "asked_question",
    "question_tables",
    "public_names",
    "parameter",
    "file_reading",
    "strict_json",
    "tally",
    "version",
    "text_tables",
    "labels",
    "label_checks",
}
MIDDLE = {"accounting", "analyzer", "shuffler"}
FILES = {"file_writing", "matplotlib_picture"}
ALLOWED = dict.fromkeys(BASE, BASE) | {
    "file_writing": BASE,
    "picture_fonts": BASE,
    "matplotlib_picture": BASE | {"file_writing", "picture_fonts"},
    "randomizers": BASE | {"randomizers"},
    "accounting": BASE | {"accounting"},
    "analyzer": BASE | {"analyzer", "randomizers"},
    "shuffler": BASE | {"shuffler", "randomizers"},
    "statistics": BASE | MIDDLE | {"statistics", "randomizers", "datasets", "planning"},
    "testing": BASE | {"accounting", "statistics", "randomizers", "testing"},
    "audit": BASE | {"accounting", "statistics", "randomizers", "testing", "audit"},
    "planning": BASE | MIDDLE | {"randomizers", "matplotlib_picture", "planning"},
    "datasets": BASE | {"datasets"},
    "federated": BASE | MIDDLE | {"statistics", "randomizers", "federated"},
    "report": BASE | FILES | {"accounting", "statistics", "planning", "report"},
    "rehearsal": BASE
    | FILES
    | {"accounting", "statistics", "datasets", "report", "rehearsal"},
    "cli": BASE
    | MIDDLE
    | FILES
    | {"statistics", "randomizers", "planning", "report", "datasets", "federated"}
    | {"rehearsal", "audit", "cli"},
}
MODULES = sorted(ROOT.rglob("*.py"))


def imported_parts(path: Path) -> set[str]:
    """Files and folders right under the package; __init__ for the package itself."""
    known = {entry.stem for entry in ROOT.iterdir()}
    names = [name.split(".") for name in imported_modules(path)]
    return {
        parts[1] if len(parts) > 1 and parts[1] in known else "__init__"
        for parts in names
        if parts[0] == "shuffledp"
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    part = path.relative_to(ROOT).parts[0].removesuffix(".py")

    imported = imported_parts(path)

    if part not in ("__init__", "__main__"):
        assert imported <= ALLOWED[part]


@pytest.mark.slow
def test_nothing_imports_the_distributions_that_are_built_on_this_one() -> None:
    modules = set().union(*(imported_modules(path) for path in MODULES))

    own = {name.split(".")[0] for name in modules if name.startswith("shuffledp")}
    assert own == {"shuffledp"}


def test_accounting_knows_no_randomizer() -> None:
    imported = [imported_parts(path) for path in (ROOT / "accounting").rglob("*.py")]

    assert len(imported) >= 9
    assert not {"randomizers", "statistics"} & set().union(*imported)


@pytest.mark.slow
def test_files_and_folders_have_no_cycle() -> None:
    edges: dict[str, set[str]] = {name: set() for name in ALLOWED}
    for path in MODULES:
        part = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if part in edges:
            edges[part] |= imported_parts(path) - {part}

    assert in_order(edges) == set(ALLOWED)


def test_public_names_all_exist_and_come_from_inside() -> None:
    for name in set(shuffledp.__all__) - {"__version__"}:
        module = getattr(shuffledp, name).__module__
        assert module.startswith("shuffledp.")
    assert sorted(shuffledp.__all__) == sorted(set(shuffledp.__all__))
