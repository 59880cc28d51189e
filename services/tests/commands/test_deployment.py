"""Steps of docs/how-to/deployment.md, done literally; and the files that it ships."""

import asyncio
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from packaging.requirements import Requirement

from shuffledp.errors import DataError
from shuffledp_services.shuffler.postgres_store import PostgresStore

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "how-to" / "deployment.md").read_text()
UNITS = sorted((ROOT / "deploy").glob("*.service"))
PARTIES = ("analyst", "shuffler", "enroller")


def section(begin: str) -> str:
    """The text under a heading."""
    [found] = re.findall(rf"^## {begin}[^\n]*\n(.*?)(?=^## )", DOCUMENT, re.M | re.S)
    return str(found)


def commands(begin: str, first: str = "shuffledp") -> list[list[str]]:
    """The words of every shuffledp command under a heading, as a shell reads them."""
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", section(begin), re.S))
    lines = blocks.replace("\\\n", " ").splitlines()
    split = [shlex.split(line, comments=True) for line in lines]
    return [words[1:] for words in split if words[:1] == [first]]


class Machines:
    """Three of them, between which files alone are sent."""

    def __init__(
        self, command: Command, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._command, self._monkeypatch = command, monkeypatch
        self.of = {party: root / f"of-the-{party}" for party in PARTIES}
        for machine in self.of.values():
            machine.mkdir()

    def on(self, party: str, words: list[str]) -> str:
        """What a command says on one of them."""
        self._monkeypatch.chdir(self.of[party])
        outcome = self._command(*words)
        assert outcome.code == 0, (party, words, outcome.err)
        return outcome.out

    def send(self, name: str, source: str, *targets: str, to: str = "") -> None:
        """Copies a file, which names its folder, to the same place or another one."""
        for target in targets:
            place = self.of[target] / (to or name)
            place.parent.mkdir(exist_ok=True)
            shutil.copy(self.of[source] / name, place)

    def agree(self) -> list[str]:
        """Does what the first two steps say, and returns what was said of the task."""
        draw = commands("1. Each party draws its own keys")
        assert [words[2] for words in draw] == list(PARTIES)
        for words in draw:
            self.on(words[2], words)
        for party in ("shuffler", "enroller"):
            part = f"{party}.public.json"
            self.send(f"commuting/{part}", party, "analyst", to=part)
        create, sign = commands("2. They agree on a task")
        [translation] = re.findall(r"```json\n(.*?)```", section("2. They"), re.S)
        (self.of["analyst"] / "de.json").write_text(translation)
        said = [self.on("analyst", create)]
        for name in ("task.json", "task.analyst.sig"):
            self.send(f"commuting/{name}", "analyst", "shuffler", "enroller")
        said += [self.on(party, sign) for party in ("shuffler", "enroller")]
        self.exchange_signatures("commuting")
        return said

    def exchange_signatures(self, folder: str) -> None:
        """Gives the three signatures to all parties."""
        for party in ("shuffler", "enroller"):
            others = [other for other in PARTIES if other != party]
            self.send(f"{folder}/task.{party}.sig", party, *others)


@pytest.fixture
def machines(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Machines:
    return Machines(command, tmp_path, monkeypatch)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Services that were started: they would run for ever."""
    found: list[dict[str, Any]] = []

    def run(_app: object, **more: Any) -> None:
        found.append(more)

    monkeypatch.setattr("shuffledp_services.operator.server.run", run)
    return found


def digests_in(said: list[str]) -> set[str]:
    """What the parties compare."""
    form = r"sha256 of task.json: ([0-9a-f]{64})\n"
    return {re.findall(form, text)[0] for text in said}


def test_the_documented_commands_lead_three_machines_to_two_services(
    machines: Machines, begun: list[dict[str, Any]]
) -> None:
    said = machines.agree()
    [enrol] = commands("4. Tokens")
    said.append(machines.on("enroller", enrol))
    machines.send("commuting/roster-1.bin", "enroller", "shuffler")

    services = commands("3. Two start their service")
    for words in services:
        machines.on(words[1], words)

    [digest] = digests_in(said)
    assert [words[1] for words in services] == ["shuffler", "analyst"]
    assert [more["port"] for more in begun] == [8000, 8001]
    links = (machines.of["enroller"] / "tokens.txt").read_text().splitlines()
    assert len(links) == 5000
    assert links[0].startswith("https://shuffler.example/tasks/")
    assert links[0].endswith(f"&task={digest}")


def test_the_documented_commands_replace_a_key(
    machines: Machines, begun: list[dict[str, Any]]
) -> None:
    [former] = digests_in(machines.agree())
    init, rotate, sign = commands("Replacing keys")
    new = "commuting-2"

    machines.on("shuffler", init)
    machines.send(f"{new}/shuffler.public.json", "shuffler", "analyst")
    said = [machines.on("analyst", rotate)]
    for name in ("task.json", "former.task.json", "task.analyst.sig"):
        machines.send(f"{new}/{name}", "analyst", "shuffler", "enroller")
    [copied] = re.findall(r"`cp (\S+) (\S+)/`", section("Replacing keys"))
    assert copied == ("commuting/enroller.json", new)
    machines.send(copied[0], "enroller", "enroller", to=f"{new}/enroller.json")
    said += [machines.on(party, sign) for party in ("shuffler", "enroller")]
    machines.exchange_signatures(new)
    for words in commands("3. Two start their service"):
        renamed = [new if word == "commuting" else word for word in words]
        machines.on(renamed[1], renamed)

    [digest] = digests_in(said)
    assert digest != former
    for text in said:
        assert f"takes the place of the one with sha256 {former}" in text
        assert "keys of the shuffler are new, and all else is the same" in text
    assert len(begun) == 2
    analyst, shuffler = machines.of["analyst"], machines.of["shuffler"]
    secret = [(analyst / f / "analyst.json") for f in ("commuting", new)]
    assert secret[0].read_bytes() == secret[1].read_bytes()
    assert secret[1].stat().st_mode & 0o077 == 0
    files = [shuffler / f / "shuffler.json" for f in ("commuting", new)]
    assert files[0].read_bytes() != files[1].read_bytes()


def test_every_command_of_an_operator_has_the_options_that_are_documented(
    command: Command,
) -> None:
    listed = commands("5. Close, publish, again")

    assert len(listed) >= 3
    for words in listed:
        outcome = command(*words)
        # Nothing but the folder is missing.
        assert outcome.is_refusal
        assert "commuting" in outcome.err


def test_verified_connections_to_postgresql_need_the_authority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    [address] = re.findall(r"'(postgresql://[^']*)'", DOCUMENT)
    documented, _, authority = address.partition("&sslrootcert=")

    def open_at(where: str) -> str:
        with pytest.raises(DataError) as caught:
            asyncio.run(PostgresStore(where).open([]))
        return str(caught.value)

    assert authority.startswith("/")
    assert open_at(documented).endswith(": ClientConfigurationError.")
    # It is looked for, before anything is sent.
    assert open_at(address).endswith(": FileNotFoundError.")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_units_name_options_that_there_are_and_variables_that_are_set(
    unit: Path, command: Command
) -> None:
    party = unit.stem.removeprefix("shuffledp-")
    [line] = re.findall(r"^ExecStart=\S+ (.*?[^\\])$", unit.read_text(), re.M | re.S)
    lines = (ROOT / "deploy" / f"{party}.env").read_text().splitlines()
    values = dict(x.split("=", 1) for x in lines if not x.startswith("#"))
    words = shlex.split(line.replace("\\\n", " "))

    def filled(match: re.Match[str]) -> str:
        return values.pop(match[1])

    outcome = command(*[re.sub(r"\$\{(\w+)\}", filled, word) for word in words])

    assert words[:2] == ["serve", party]
    assert values == {}
    assert outcome.is_refusal
    assert "commuting" in outcome.err
    documented = DOCUMENT.replace("shuffler", party)
    assert f"deploy/{unit.name}" in documented
    assert f"deploy/{party}.env /etc/shuffledp/{party}.env" in documented


def test_every_dependency_of_the_services_is_locked_with_its_hashes() -> None:
    library, services = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for folder in (".", "services")
    )
    extras = library["optional-dependencies"]
    wanted = [
        *library["dependencies"],
        *services["dependencies"],
        *extras["keyed"],
        *extras["report"],
    ]
    locked = (ROOT / "deploy" / "requirements.txt").read_text()
    entries = re.findall(r"^(\S+)==(\S+)[^\n]*\\\n((?: +--hash\S+.*\n)+)", locked, re.M)
    versions: dict[str, set[str]] = {}
    for name, version, _ in entries:
        versions.setdefault(name, set()).add(version)

    assert len(entries) == len(re.findall(r"^\S+==", locked, re.M)) > len(wanted)
    for line in wanted:
        requirement = Requirement(line)
        if requirement.name != "shuffledp":
            for version in versions[requirement.name]:
                assert requirement.specifier.contains(version)


def _verified(units: list[Path], folder: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("true") or "/bin/true"
    for unit in units:
        installed = unit.read_text().replace("/opt/shuffledp/bin/shuffledp", program)
        (folder / unit.name).write_text(installed)
    return subprocess.run(
        ["systemd-analyze", "verify", *map(str, folder.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="needs systemd-analyze"
)
def test_systemd_understands_every_line_of_the_units(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.mkdir()
    wrong.mkdir()
    spoiled = wrong.parent / UNITS[0].name
    spoiled.write_text(UNITS[0].read_text().replace("ProtectClock", "ProtectClocks"))

    found, other = _verified(UNITS, right), _verified([spoiled], wrong)

    assert (found.returncode, found.stdout + found.stderr) == (0, "")
    assert "ProtectClocks" in other.stderr
