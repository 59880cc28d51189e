"""The demo, end to end: two real processes, devices over HTTP, and what is published."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp_services.demo.audited_demo import CANARIES, SABOTAGED, audited_demo
from shuffledp_services.demo.demo_collection import Demo, demo
from shuffledp_services.evidence.evidence import EpochTest, Evidence
from shuffledp_services.operator.task_signatures import load_agreed
from shuffledp_services.participant import NOT_BUILT, page_folder

NUM_USERS = 1500


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def done(folder: Path) -> Iterator[Demo]:
    with demo(folder, num_users=NUM_USERS) as collection:
        yield collection


@pytest.mark.slow
def test_every_device_is_heard(done: Demo) -> None:
    assert (done.delivery.accepted, done.delivery.refused) == (NUM_USERS, {})
    assert sum(done.result["people"]) == NUM_USERS


@pytest.mark.slow
def test_the_estimate_is_near_the_truth(done: Demo) -> None:
    rows = done.result["estimate"]["rows"]

    value = np.array([row["value"] for row in rows])
    error = np.array([row["standard_error"] for row in rows])

    # Five standard errors, four times: a false alarm in 400,000 runs.
    assert np.all(np.abs(value - done.truth) < 5.0 * error)
    assert np.all(error < 0.1)


@pytest.mark.slow
def test_the_certificate_is_that_of_the_accountant(done: Demo) -> None:
    people = dict(zip(done.task.choices, done.result["people"], strict=True))

    certified = account(
        Frequency(4),
        Population.from_counts(people),
        delta=1e-6,
        absent=done.task.absent,
        quantiles=False,
    )

    assert done.result["certificate"] == certified.to_dict()
    expected = [level.epsilon_central for level in certified.levels]
    assert done.result["spent"] == expected
    assert all(np.array(expected) <= np.array(done.task.promise))


def test_the_dashboard_and_both_services_answer(done: Demo) -> None:
    with httpx.Client(trust_env=False) as client:
        page = client.get(done.dashboard)
        at_shuffler = client.get(f"{done.shuffler}/tasks/{done.task.identity}")

    assert page.status_code == 200
    assert done.task.question.text in page.text
    assert at_shuffler.json()["task"] == done.task.to_dict()


def test_no_party_has_another_one_s_keys(done: Demo, folder: Path) -> None:
    parties = ("analyst", "shuffler", "enroller")
    names = {
        party: {path.name for path in (folder / party).iterdir()} for party in parties
    }

    assert {path.name for path in folder.iterdir()} == set(parties)
    for party in parties:
        kept = {f"{other}.json" for other in parties} & names[party]
        assert kept == {f"{party}.json"}
        assert stat.S_IMODE((folder / party / f"{party}.json").stat().st_mode) == 0o600
        assert load_agreed(folder / party) == done.task
    for path in ("shuffler/database", "analyst/database", "enroller/tokens-1.txt"):
        assert stat.S_IMODE((folder / path).stat().st_mode) == 0o600


def test_services_log_where_they_are_and_nothing_else(done: Demo, folder: Path) -> None:
    logs = [
        (folder / party / "log.txt").read_text() for party in ("shuffler", "analyst")
    ]

    page = f"{done.shuffler}/tasks/{done.task.identity}/take-part#token=..."
    listening = f"Shuffler listening on {done.shuffler}"
    place = f"task={done.task.identity} epoch=1 stage=answer"
    digest = f"sha256 of task.json of {done.task.identity}: {done.task.fingerprint}"
    begun = [f"enrolled {place}", "started"]
    if page_folder():
        begun.append(f"{listening}; take part at {page}")
    else:
        begun = [NOT_BUILT, *begun, listening]
    assert [log.splitlines() for log in logs] == [
        [*begun, digest, f"closed {place}", f"handed-over {place}"],
        [
            "started",
            f"Dashboard: {done.analyst}/",
            digest,
            f"received {place}",
            f"published {place}",
        ],
    ]


@pytest.mark.slow
def test_too_few_people_are_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError), demo(tmp_path, num_users=50):
        pass

    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_command_shows_the_result_and_ends_when_it_is_told_to(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "shuffledp", "serve", "demo", "--people", "600"]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}

    process = subprocess.Popen(
        [*command, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    shown = ""
    while "Ctrl-C" not in shown:
        line = process.stdout.readline()
        assert line, process.communicate(timeout=30)[1]
        shown += line
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    assert "after the shuffle" in shown
    assert "/dashboard" in shown
    assert process.returncode == 0
    # Keys and databases were temporary.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("saboteur", [True, False])
def test_an_auditor_finds_who_keeps_the_order_and_nobody_else(
    tmp_path: Path, saboteur: bool
) -> None:
    with (
        audited_demo(tmp_path, num_users=300, saboteur=saboteur) as done,
        httpx.Client(trust_env=False) as client,
    ):
        page = client.get(done.last.dashboard).text
        url = f"{done.last.analyst}/tasks/{done.last.task.identity}/audit"
        evidence = Evidence.from_json(client.get(url).content)

    assert evidence == done.evidence
    assert [one.epoch for one in evidence.epochs] == [1, 2, 3, 4]
    assert sum(done.last.result["people"]) == 300 + CANARIES
    certain = [
        (one.epoch, finding.test)
        for one in evidence.epochs
        for finding in one.findings
        if finding.certain
    ]
    if saboteur:
        assert certain == [(SABOTAGED, EpochTest.ORDER)]
        assert "A promise is broken: epoch 3" in page
    else:
        # A false alarm in a hundred runs at most.
        assert certain == []
        assert "Nothing was found" in page
    for name in ("canaries-1.json", "evidence.json"):
        assert (tmp_path / "auditor" / name).is_file()
    assert stat.S_IMODE((tmp_path / "auditor" / "canaries-1.json").stat().st_mode) == (
        0o600
    )


@pytest.mark.slow
def test_a_saboteur_without_an_auditor_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "shuffledp", "serve", "demo", "--saboteur"]

    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert (said.returncode, said.stdout) == (2, "")
    assert "Expected --audit with --saboteur" in said.stderr
