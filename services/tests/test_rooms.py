"""Imports between rooms of the services point one way, and to the library."""

from functools import cache
from pathlib import Path

from imported_modules import imported_modules, in_order, rooms_imported

import shuffledp_services

ROOT = Path(str(shuffledp_services.__file__)).parent
ROOMS = {path.parent.name for path in ROOT.glob("*/__init__.py")}


@cache
def all_imports() -> dict[Path, set[str]]:
    return {path: imported_modules(path) for path in ROOT.rglob("*.py")}


def test_rooms_have_no_cycle() -> None:
    edges = {
        room: rooms_imported(ROOT / room, "shuffledp_services") & ROOMS - {room}
        for room in ROOMS
    }

    assert len(ROOMS) >= 15
    assert in_order(edges) == ROOMS


def test_every_module_is_in_a_room() -> None:
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]


def test_commands_alone_import_the_command_line() -> None:
    importers = {
        path.relative_to(ROOT).parts[0]
        for path, modules in all_imports().items()
        if any(name.startswith("shuffledp.cli") for name in modules)
    }

    assert importers == {"commands"}


def test_published_bounds_are_not_imported() -> None:
    modules = set().union(*all_imports().values())

    assert not [name for name in modules if name.startswith("shuffledp_papers")]
