"""What docs/deployment.md tells operators to do, done literally; and what it ships."""

import asyncio
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra service")
pytest.importorskip("uvicorn", reason="needs the extra service")

from command_line import Command
from packaging.requirements import Requirement

from shuffledp.errors import DataError
from shuffledp.service.shuffler.postgres_store import PostgresStore

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "deployment.md").read_text()
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


def test_the_documented_commands_lead_three_machines_to_two_services(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = {party: tmp_path / f"of-the-{party}" for party in PARTIES}
    for machine in machines.values():
        machine.mkdir()

    def on(party: str, words: list[str]) -> str:
        monkeypatch.chdir(machines[party])
        outcome = command(*words)
        assert outcome.code == 0, (party, words, outcome.err)
        return outcome.out

    def send(name: str, source: str, *targets: str, beside: bool = False) -> None:
        for target in targets:
            folder = machines[target] if beside else machines[target] / "commuting"
            shutil.copy(machines[source] / "commuting" / name, folder)

    draw = commands("1. Each party draws its own keys")
    assert [words[2] for words in draw] == list(PARTIES)
    for words in draw:
        on(words[2], words)
    for party in ("shuffler", "enroller"):
        send(f"{party}.public.json", party, "analyst", beside=True)
    create, sign = commands("2. They agree on a task")
    [translation] = re.findall(r"```json\n(.*?)```", section("2. They"), re.S)
    (machines["analyst"] / "de.json").write_text(translation)
    created = on("analyst", create)
    for name in ("task.json", "task.analyst.sig"):
        send(name, "analyst", "shuffler", "enroller")
    signed = [on(party, sign) for party in ("shuffler", "enroller")]
    send("task.shuffler.sig", "shuffler", "analyst", "enroller")
    send("task.enroller.sig", "enroller", "analyst", "shuffler")
    [enrol] = commands("4. Tokens")
    enrolled = on("enroller", enrol)
    send("roster-1.bin", "enroller", "shuffler")

    # They would run for ever: what they need has been found by then.
    begun: list[dict[str, Any]] = []

    def run(_app: object, **more: Any) -> None:
        begun.append(more)

    monkeypatch.setattr("shuffledp.service.run.run", run)
    services = commands("3. Two start their service")
    for words in services:
        on(words[1], words)

    digests = {
        re.findall(r"sha256 of task.json: ([0-9a-f]{64})\n", said)[0]
        for said in (created, *signed, enrolled)
    }
    assert len(digests) == 1
    assert [words[1] for words in services] == ["shuffler", "analyst"]
    assert [more["port"] for more in begun] == [8000, 8001]
    links = (machines["enroller"] / "tokens.txt").read_text().splitlines()
    assert len(links) == 5000
    assert links[0].startswith("https://shuffler.example/tasks/")
    assert links[0].endswith(f"&task={digests.pop()}")


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
            asyncio.run(PostgresStore(where).open())
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
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["service"], *extras["report"]]
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
