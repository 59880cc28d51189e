"""What is published stands on the library; services are not imported."""

from functools import cache
from pathlib import Path

from imported_modules import imported_modules

import shuffledp_papers

ROOT = Path(str(shuffledp_papers.__file__)).parent


@cache
def all_imports() -> dict[Path, set[str]]:
    return {path: imported_modules(path) for path in ROOT.rglob("*.py")}


def test_commands_alone_import_the_command_line() -> None:
    importers = {
        path.relative_to(ROOT).parts[0]
        for path, modules in all_imports().items()
        if any(name.startswith("shuffledp.cli") for name in modules)
    }

    assert importers == {"commands"}


def test_services_are_not_imported() -> None:
    modules = set().union(*all_imports().values())

    assert not [name for name in modules if name.startswith("shuffledp_services")]
