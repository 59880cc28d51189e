"""What is not used is not imported: a command that prints a line loads no table."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

import shuffledp
from shuffledp.cli.main import app
from shuffledp.public_names import MODULES

HEAVY = {"scipy", "polars", "matplotlib", "rich", "numpy", "jinja2", "cryptography"}


def imported(statement: str, *arguments: str) -> set[str]:
    """Names of all modules that a fresh interpreter has after a statement."""
    script = (
        "import sys\n"
        f"try:\n    {statement}\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stderr.split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    names = imported("import shuffledp")

    assert not (HEAVY | {"click"}) & names
    own = {name for name in names if name.startswith("shuffledp")}
    assert own == {"shuffledp", "shuffledp.public_names", "shuffledp.version"}


def test_one_public_name_does_not_import_the_others() -> None:
    names = imported("from shuffledp import Population")

    assert "shuffledp.population" in names
    assert not (HEAVY - {"numpy"}) & names
    assert "shuffledp.accounting" not in names


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_what_says_which_commands_there_are_imports_none(option: str) -> None:
    names = imported("from shuffledp.cli.main import main; main()", option)

    assert "click" in names
    assert not HEAVY & names
    own = {name for name in names if name.startswith("shuffledp.cli.")}
    light = ("main", "lazy_group", "installed_commands", "standard_streams")
    # A table of texts, and a record of signals.
    others = ("former_spellings", "interrupt_record")
    assert own == {f"shuffledp.cli.{name}" for name in (*light, *others)}


@pytest.mark.slow
def test_commands_that_read_no_table_load_no_reader_of_tables() -> None:
    commands = ("account", "verify", "calibrate", "plan")
    names = imported(
        "; ".join(f"import shuffledp.cli.{name}_command" for name in commands)
    )

    assert "shuffledp.accounting.account" in names
    assert not {"polars", "scipy.stats", "matplotlib", "jinja2", "cryptography"} & names


@pytest.mark.slow
def test_accounts_load_no_optimization_before_they_need_it() -> None:
    names = imported("import shuffledp.cli.account_command")

    assert "shuffledp.accounting.account" in names
    assert not {"scipy.optimize", "scipy.fft", "scipy.linalg", "scipy.sparse"} & names


def test_every_public_name_has_one_home_that_type_checkers_see_too() -> None:
    tree = ast.parse(Path(shuffledp.__file__).read_text(encoding="utf-8"))
    (guarded,) = [node for node in tree.body if isinstance(node, ast.If)]

    seen = {
        alias.name: node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    homes = {name: f"shuffledp.{module}" for name, module in MODULES.items()}
    assert seen == homes
    assert set(homes) == set(shuffledp.__all__) - {"__version__"}


@pytest.mark.parametrize("name", shuffledp.__all__)
def test_public_names_are_listed_and_found(name: str) -> None:
    assert name in dir(shuffledp)
    assert getattr(shuffledp, name) is getattr(shuffledp, name)
    if name != "__version__":
        module = import_module(f"shuffledp.{MODULES[name]}")
        assert getattr(shuffledp, name) is getattr(module, name)


def test_other_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Frequencies'"):
        shuffledp.Frequencies  # noqa: B018
    assert not hasattr(shuffledp, "__path_of_nothing__")


def test_the_list_of_commands_says_what_the_commands_say_themselves() -> None:
    context = click.Context(app)

    names = app.list_commands(context)

    assert len(names) >= 9
    for name in names:
        command = app.get_command(context, name)
        assert command is not None
        # A command may have two names.
        assert command.name in names
        assert app._entries[command.name] == app._entries[name]
        # Without a limit, the first line is not cut.
        assert app._entries[name].help == command.get_short_help_str(limit=1000)
    assert app.get_command(context, "frequencies") is None
