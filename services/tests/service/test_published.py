"""A published result against its task: every forgery is found, whoever signed it."""

import copy
import functools
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyst_parties import Parties, Service, answers, crowd_levels, parties, serve
from click.testing import CliRunner

from shuffledp.cli.verify_command import verify_command
from shuffledp.errors import DataError
from shuffledp.statistics.survey import EpochStage
from shuffledp.statistics.verify_certificate import verify
from shuffledp.types import Mode
from shuffledp_services.audit import result_verification
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.wire.inclusion import RESULT
from shuffledp_services.wire.signed_plan import Acknowledgement
from shuffledp_services.wire.signing import new_signing_key, signed
from shuffledp_services.wire.step import Step

KINDS = ("agnostic", "stratified", "mean", "items", "counts")
CENTRAL = ("items", "counts")


@functools.cache
def published(kind: str) -> tuple[Parties, str]:
    """A task, and what its service published: with two spoiled reports."""
    statistic = kind if kind in ("mean", *CENTRAL) else "frequency"
    mode: Mode = "stratified" if kind == "stratified" else "agnostic"
    # With room for those who chose a target and sent what means nothing.
    room: dict[str, Any] = {"promise": (2.0,) * 3} if kind in CENTRAL else {}
    who = parties(statistic, mode, **room)
    levels = crowd_levels()

    async def scenario(service: Service) -> str:
        plan = None
        if statistic in CENTRAL:
            # Nobody chooses the middle target: estimates are made from exact numbers.
            named = np.repeat([0, 2], [120, 60])[:, None]
            choosing = Step(who.task, 1, EpochStage.CHOICE)
            answer = await service.post(who.batch(choosing, named, levels))
            published = Acknowledgement.read(answer.json(), who.task, 1).plan
            assert published is not None
            plan = published.protocol
            levels[60:120] = levels[0]
        step = Step(who.task, 1, EpochStage.ANSWER, plan)
        await service.post(who.batch(step, answers(step, levels), levels, dummies=2))
        await service.counted()
        return (await service.result()).text

    with tempfile.TemporaryDirectory() as folder:
        return who, serve(Path(folder), who, scenario)


every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.slow
@every_kind
def test_what_a_service_published_has_no_problem(kind: str) -> None:
    who, text = published(kind)
    result = json.loads(text)

    assert problems_in(result, who.task) == ()
    assert verify(result).holds
    assert result["spoiled"] == 2


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    """A forgery: one value changed."""

    def change(result: Any) -> None:
        *way, last = path
        functools.reduce(lambda part, name: part[name], way, result)[last] = value

    return change


def times(*path: Any, factor: float) -> Callable[[Any], None]:
    def change(result: Any) -> None:
        *way, last = path
        functools.reduce(lambda part, name: part[name], way, result)[last] *= factor

    return change


ROW = ("estimate", "rows", 0)
# Each with words of the one problem, or of the first.
FORGERIES: dict[str, tuple[Callable[[Any], None], str]] = {
    "share": (put(*ROW, "value", value=0.99), "it says 0.99, and"),
    "interval": (put(*ROW, "interval", 0, value=0.0), "interval '1': it says 0.0"),
    "error": (times(*ROW, "standard_error", factor=0.5), "standard_error"),
    "name": (put(*ROW, "name", value="x\x1b[2J"), r"it says 'x\x1b[2J'"),
    "number as text": (put(*ROW, "value", value="0.99"), "it says '0.99'"),
    "manipulation": (
        put("estimate", "manipulation", "shift_by_one", value=0.0),
        "manipulation, shift_by_one: it says 0.0",
    ),
    "row left out": (lambda r: r["estimate"]["rows"].pop(), "estimate, rows"),
    "confidence": (put("estimate", "confidence", value=0.99), "confidence"),
    "no batch": (put("batch", value=None), "its batch: Expected an id"),
    "batch without its id": (
        lambda r: r["batch"].pop("id"),
        "its batch: Expected an id",
    ),
    "batch of another id": (
        put("batch", "id", value="x"),
        "its batch: Expected a batch id",
    ),
    "list of no digest": (
        put("batch", "messages", value=""),
        "its batch: Expected a dig",
    ),
    "estimated people": (put("estimate", "num_users", value=9), "num_users: it says 9"),
    "unbiased": (put("estimate", "unbiased_if", value="Always."), "unbiased_if"),
    "spent": (lambda r: r.update(spent=[0.0] * 3), "0.0 spent"),
    "a little spent": (times("spent", 2, factor=1 - 1e-12), "spent, "),
    "people": (lambda r: r.update(people=[9] * len(r["people"])), "too few people: "),
    "one person more": (
        lambda r: r["people"].append(r["people"].pop() + 1),
        "people less 2 spoiled",
    ),
    "spoiled": (put("spoiled", value=0), "people less 0 spoiled"),
    "all spoiled": (put("spoiled", value=10**6), "people less 1,000,000"),
    "statistic": (put("statistic", value="sum"), "statistic: it says 'sum'"),
    "mode": (put("mode", value="secret"), "mode: it says 'secret'"),
    "protocol": (put("protocol_digest", value="0" * 64), "protocol_digest"),
    "assumption": (lambda r: r["assumptions"].pop(), "assumptions: it says"),
    "assumed": (put("assumptions", 1, value="Trust us."), "assumptions '2'"),
    "epoch": (put("epoch", value=2), "its enrolment is for epoch 1"),
    "far epoch": (put("epoch", value=10**6), "cannot be read: Expected an epoch"),
    "epoch true": (put("epoch", value=True), "cannot be read: Expected an epoch"),
    "tokens": (put("enrolment", "tokens", value=10**6), "its enrolment: Expected"),
    "absent": (put("certificate", "absent", value=0), "absent people 0, expected"),
    "delta": (put("certificate", "delta", value=0.5), "its certificate is for delta"),
    "certified people": (
        put("certificate", "people_digest", value="0" * 64),
        "its certificate is of other people",
    ),
    "level left out": (
        lambda r: r["certificate"]["levels"].pop(),
        "does not list every choice",
    ),
    "levels that fall": (
        lambda r: r["certificate"]["levels"].reverse(),
        "cannot be read: Expected statements whose levels rise",
    ),
    "people that fall": (
        lambda r: r["certificate"]["people"].reverse(),
        "cannot be read: Expected people whose levels rise",
    ),
    "promise": (
        times("certificate", "levels", 2, "epsilon_central", factor=100.0),
        "certified",
    ),
    "no tally": (put("tally", value={}), "cannot be read: Expected a tally"),
    "no certificate": (put("certificate", value=[]), "cannot be read: Expected a cert"),
    "no people": (put("people", value=[]), "cannot be read: Expected"),
    "people below 0": (
        lambda r: r.update(people=[-1] * len(r["people"])),
        "cannot be read: Expected whole",
    ),
    "no number": (
        put("spent", 0, value="x"),
        "cannot be read: Expected what was spent",
    ),
}
UNSIGNED = "it is not signed by the task's analyst, or was changed since"


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("forgery", FORGERIES)
def test_forgeries_are_found_even_if_the_analyst_signs_them(
    forgery: str, kind: str
) -> None:
    who, text = published(kind)
    change, words = FORGERIES[forgery]
    forged = json.loads(text)
    change(forged)
    del forged["signature"]

    others = problems_in(signed(RESULT, forged, new_signing_key()), who.task)
    hers = problems_in(signed(RESULT, forged, who.hosted.secrets.signing_key), who.task)

    assert others == (UNSIGNED, *hers)
    assert any(words in problem for problem in hers), hers
    assert all(problem.isprintable() for problem in hers)


@pytest.mark.slow
@every_kind
def test_a_tally_that_was_changed_no_longer_gives_the_estimate(kind: str) -> None:
    who, text = published(kind)
    forged = json.loads(text)
    counts = forged["tally"]["counts"][0][0]
    counts[0], counts[1] = counts[0] + 1, counts[1] - 1
    del forged["signature"]

    hers = problems_in(signed(RESULT, forged, who.hosted.secrets.signing_key), who.task)

    assert any("estimate" in problem for problem in hers)


@pytest.mark.slow
def test_people_moved_from_level_to_level_are_found() -> None:
    for kind in ("agnostic", "stratified"):
        who, text = published(kind)
        forged = json.loads(text)
        people = forged["tally"]["people"][0]
        people[0], people[1] = people[0] + 5, people[1] - 5

        hers = problems_in(forged, who.task)

        assert any("other people at each level" in problem for problem in hers), kind


@pytest.mark.slow
def test_results_of_other_tasks_and_other_files_are_refused() -> None:
    who, text = published("agnostic")
    result = json.loads(text)
    other = replace(who.task, name="Vegetables")
    more, less = copy.deepcopy(result) | {"x\x1b": 1}, copy.deepcopy(result)
    del less["tally"]

    for task, said, words in (
        (other, result, "of this very task"),
        (who.task, result | {"digest": other.fingerprint}, "of this very task"),
        (who.task, result | {"task": other.identity + "x"}, "of this very task"),
        (who.task, more, "missing, or unknown"),
        (who.task, less, "'tally' is missing"),
        (who.task, result["certificate"], "missing, or unknown"),
    ):
        with pytest.raises(DataError, match=words) as refusal:
            problems_in(said, task)
        assert str(refusal.value).isprintable()


def test_a_tally_of_another_protocol_is_found() -> None:
    who, text = published("agnostic")
    forged = json.loads(text) | {
        "tally": json.loads(published("stratified")[1])["tally"]
    }

    assert any(
        "of the task's protocol" in line for line in problems_in(forged, who.task)
    )


def test_a_signature_is_for_every_byte() -> None:
    who, text = published("agnostic")
    forged = json.loads(text)
    forged["batch"]["id"] = "A" * 22

    assert problems_in(forged, who.task) == (UNSIGNED,)


@pytest.mark.slow
@pytest.mark.parametrize("machine", [False, True])
def test_the_command_says_every_problem_in_a_line_and_exits_with_1(
    machine: bool, tmp_path: Path
) -> None:
    who, text = published("agnostic")
    forged = json.loads(text) | {"people": [9, 9, 9]}
    forged["estimate"]["rows"][0]["value"] = 0.99
    unproven = json.loads(text)
    for level in unproven["certificate"]["levels"]:
        level["epsilon_central"] *= 0.5
    unproven["spent"] = [spent * 0.5 for spent in unproven["spent"]]
    del unproven["signature"]
    unproven = signed(RESULT, unproven, who.hosted.secrets.signing_key)
    (tmp_path / "task.json").write_bytes(who.task.to_json())
    path, more = tmp_path / "result.json", ["--json"] if machine else []
    words = [str(path), "--task", str(tmp_path / "task.json"), *more]

    path.write_text(text)
    whole = CliRunner().invoke(verify_command, words)
    path.write_text(json.dumps(forged))
    false = CliRunner().invoke(verify_command, words)
    path.write_text(json.dumps(unproven))
    weaker = CliRunner().invoke(verify_command, words)

    assert (whole.exit_code, false.exit_code, weaker.exit_code) == (0, 1, 1)
    if machine:
        assert json.loads(whole.stdout)["holds"] is True
        said = json.loads(false.stdout)
        assert (said["holds"], len(said["problems"]) > 3) == (False, True)
        return
    assert "The result holds: the task's analyst signed it" in whole.stdout
    first, *lines = false.stdout.splitlines()
    assert first == "The result does NOT hold:"
    assert lines[0] == f"  - {UNSIGNED}"
    assert all(line.startswith("  - ") for line in lines)
    assert any("it says 0.99" in line for line in lines)
    assert "is not proven" in weaker.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", CENTRAL)
def test_a_tally_without_noise_is_found(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So few people add less noise than a false alarm in 10^9 would show.
    monkeypatch.setattr(result_verification, "_FALSE_ALARM", 1e-3)
    who, text = published(kind)
    result = json.loads(text)
    counts = result["tally"]["counts"][0][0]
    honest_text = "its counts have less noise than devices draw"

    # Of one answer, all noise is left out; nobody gave it.
    counts[0] = 0
    problems = problems_in(result, who.task)

    assert any(problem.startswith(honest_text) for problem in problems)
    assert not any(
        problem.startswith(honest_text)
        for problem in problems_in(json.loads(text), who.task)
    )
