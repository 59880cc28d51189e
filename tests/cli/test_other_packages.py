"""Commands and features of packages that are not installed, and of those that are."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import click
import pytest
from command_line import Command

from shuffledp import extras
from shuffledp.cli import installed_commands
from shuffledp.cli.installed_commands import LazyCommand
from shuffledp.cli.lazy_group import LazyGroup
from shuffledp.errors import MissingExtraError
from shuffledp.version import __version__

OWN = LazyCommand("shuffledp.cli.account_command:account_command", "Own.")
TABLE = {"": {"own": LazyCommand("nowhere:nothing", "Other."), "added": OWN}}


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No other distribution is installed."""
    for module in (extras, installed_commands):
        monkeypatch.setattr(module, "entry_points", lambda **_: [])
    installed_commands.installed_commands.cache_clear()
    yield
    installed_commands.installed_commands.cache_clear()


def group(path: str = "") -> LazyGroup:
    return LazyGroup("shuffledp", entries={"own": OWN}, path=path)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("path", "name", "distribution"),
    [
        ("", "serve", "shuffledp-services"),
        ("", "claims", "shuffledp-papers"),
        ("", "leaderboard", "shuffledp-papers"),
        ("audit", "collection", "shuffledp-services"),
        ("audit", "dummies", "shuffledp-services"),
    ],
)
def test_the_package_of_a_command_that_is_not_installed_is_named(
    path: str, name: str, distribution: str
) -> None:
    context = click.Context(group(path), info_name="shuffledp")

    with pytest.raises(click.UsageError, match=f"{name}.*install {distribution}."):
        context.command.get_command(context, name)  # type: ignore[attr-defined]
    assert distribution in group(path).get_help(context)


@pytest.mark.usefixtures("alone")
def test_an_unknown_command_is_of_no_package() -> None:
    assert group().get_command(click.Context(group()), "frequencies") is None


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("words", "package"),
    [
        (
            "account --levels 1:100 --categories 9 --delta 1e-6 --method s-apes",
            "shuffledp-papers",
        ),
        (
            "plan items --items 9 --set-size 1 --targets 1:500 --published",
            "shuffledp-papers",
        ),
        (
            "account --budgets budgets.csv --categories 9 --delta 1e-6 --spark local[1]",
            "shuffledp-services[spark]",
        ),
        ("verify result.json --task task.json", "shuffledp-services"),
    ],
)
def test_the_package_of_an_option_that_is_not_installed_is_named(
    words: str, package: str, command: Command
) -> None:
    refused = command(*words.split())

    assert refused.code == 2
    assert f"install {package}" in refused.err
    assert refused.err.count("\n") == 1
    assert refused.out == ""


def test_an_installed_package_adds_commands_and_replaces_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = EntryPoint("other", f"{__name__}:TABLE", installed_commands.GROUP)
    monkeypatch.setattr(installed_commands, "entry_points", lambda **_: [entry, entry])
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    installed_commands.installed_commands.cache_clear()

    both = group()

    installed_commands.installed_commands.cache_clear()
    context = click.Context(both)
    assert both.list_commands(context) == ["own", "added"]
    own = both.get_command(context, "own")
    assert own is not None
    assert own is both.get_command(context, "added")


@pytest.mark.usefixtures("alone")
def test_a_feature_that_is_not_installed_is_absent_or_an_error() -> None:
    assert extras.installed_feature("spark") is None
    with pytest.raises(
        MissingExtraError,
        match=r"^--spark comes .* install shuffledp-services\[spark\]",
    ):
        extras.require_feature("spark", what="--spark")


@dataclass(frozen=True)
class Installed:
    name: str
    version: str


@pytest.mark.parametrize("version", ["0.0.1", __version__])
def test_versions_of_all_packages_are_shown_and_compared(
    version: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = SimpleNamespace(dist=Installed("shuffledp-other", version))
    monkeypatch.setattr("shuffledp.cli.main.entry_points", lambda **_: [other, other])

    shown = command("--version")

    assert shown.out.splitlines() == [
        f"shuffledp, version {__version__}",
        f"shuffledp-other, version {version}",
    ]
    assert shown.code == (0 if version == __version__ else 2)
    assert ("one version" in shown.err) == (version != __version__)


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        ("accont", "Did you mean 'account'? See `shuffledp -h`."),
        ("nothing-like-it", "No such command 'nothing-like-it'. See `shuffledp -h`."),
    ],
)
def test_an_unknown_command_suggests_one_of_a_near_name(
    words: str, suggestion: str, command: Command
) -> None:
    outcome = command(*words.split())

    assert outcome.code == 2
    assert suggestion in outcome.err
