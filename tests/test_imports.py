"""Imports point one way: what a device runs knows nothing about who looks at it."""

import ast
from pathlib import Path

import pytest

import shuffledp

ROOT = Path(shuffledp.__file__).parent
BASE = {
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
    "format_number",
    "number_text",
    "option_text",
    "parameter",
    "strict_json",
    "tally",
    "version",
    "text_tables",
    "labels",
}
MIDDLE = {"accounting", "analyzer", "shuffler"}
ALLOWED = dict.fromkeys(BASE, BASE) | {
    "randomizers": BASE | {"randomizers"},
    "accounting": BASE | {"accounting"},
    "analyzer": BASE | {"analyzer", "randomizers"},
    "shuffler": BASE | {"shuffler", "randomizers"},
    "statistics": BASE | MIDDLE | {"statistics", "randomizers", "datasets", "report"},
    "testing": BASE | {"accounting", "statistics", "randomizers", "testing"},
    "audit": BASE | {"accounting", "statistics", "randomizers", "testing", "audit"},
    "planning": BASE | MIDDLE | {"statistics", "randomizers", "report", "planning"},
    "datasets": BASE | {"datasets"},
    "federated": BASE | MIDDLE | {"statistics", "randomizers", "federated"},
    "service": BASE
    | MIDDLE
    | {"statistics", "randomizers", "report", "audit", "service"},
    "scale": BASE
    | MIDDLE
    | {"statistics", "randomizers", "datasets", "report", "service", "scale"},
    "papers": BASE
    | MIDDLE
    | {"statistics", "randomizers", "planning", "datasets", "report", "papers"}
    | {"federated", "testing"},
    "explore": BASE
    | MIDDLE
    | {"statistics", "randomizers", "planning", "service", "explore"},
    "report": BASE | {"accounting", "analyzer", "report"},
    "cli": BASE
    | MIDDLE
    | {"statistics", "randomizers", "planning", "papers"}
    | {"report", "datasets", "federated", "service", "audit", "scale", "explore"}
    | {"cli"},
}
MODULES = sorted(ROOT.rglob("*.py"))


def part_of(module: str) -> str:
    """The file or folder right under the package; __init__ for the package itself."""
    names = module.split(".")
    if len(names) == 1 or names[1].startswith("__"):
        return "__init__"
    return names[1]


def imported_parts(path: Path) -> set[str]:
    parts = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"Expected absolute imports in {path}."
            module = node.module or ""
            if module == "shuffledp":
                known = {entry.stem for entry in ROOT.iterdir()}
                names = {alias.name for alias in node.names}
                parts |= {name if name in known else "__init__" for name in names}
            elif module.startswith("shuffledp."):
                parts.add(part_of(module))
        if isinstance(node, ast.Import):
            names = {alias.name for alias in node.names}
            parts |= {
                part_of(name) for name in names if name.split(".")[0] == "shuffledp"
            }
    return parts


def imported_rooms(folder: Path) -> set[str]:
    """Folders of the service that the modules in one of them import from."""
    prefix = "shuffledp_services."
    rooms = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                paths = [f"{node.module}.{alias.name}" for alias in node.names]
                rooms |= {
                    name.removeprefix(prefix).split(".")[0]
                    for name in paths
                    if name.startswith(prefix)
                }
    return rooms


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    part = path.relative_to(ROOT).parts[0].removesuffix(".py")

    imported = imported_parts(path)

    if part not in ("__init__", "__main__"):
        assert imported <= ALLOWED[part]


def test_papers_are_imported_by_papers_and_the_command_line_only() -> None:
    importers = {part for part, allowed in ALLOWED.items() if "papers" in allowed}

    assert importers == {"papers", "cli"}


def test_accounting_knows_no_randomizer() -> None:
    imported = [imported_parts(path) for path in (ROOT / "accounting").rglob("*.py")]

    assert len(imported) >= 9
    assert not {"randomizers", "statistics"} & set().union(*imported)


def test_base_modules_have_no_cycle() -> None:
    edges = {name: imported_parts(ROOT / f"{name}.py") for name in BASE}

    settled: set[str] = set()
    while ready := {name for name in edges if edges[name] <= settled} - settled:
        settled |= ready

    assert settled == BASE


def test_rooms_of_the_service_have_no_cycle() -> None:
    service = ROOT / "service"
    rooms = {path.parent.name for path in service.glob("*/__init__.py")}
    edges = {room: imported_rooms(service / room) & rooms - {room} for room in rooms}

    settled: set[str] = set()
    while ready := {room for room in rooms if edges[room] <= settled} - settled:
        settled |= ready

    assert settled == rooms
    assert not [path.name for path in service.glob("*.py") if path.stem != "__init__"]


def test_public_names_all_exist_and_come_from_inside() -> None:
    for name in set(shuffledp.__all__) - {"__version__"}:
        module = getattr(shuffledp, name).__module__
        assert module.startswith("shuffledp.")
    assert sorted(shuffledp.__all__) == sorted(set(shuffledp.__all__))
