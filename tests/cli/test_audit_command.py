import sys
from pathlib import Path

import pytest
from command_line import Command

BOX = """
import json
import os
import sys
import time
from types import SimpleNamespace

import numpy as np


def leaves(*_arguments, **_named):
    sys.exit(0)


def gone(*_arguments, **_named):
    os._exit(0)


def loud(values, levels, rng):
    print("hello")
    os.write(1, b"hello")
    return rng.integers(4, size=len(values))


class Leaving:
    @property
    def low(self):
        sys.exit(0)

    def randomize(self, values, levels):
        return values


def divides(device, people, *, epsilon):
    return 1 / 0


def ends(device, people, *, epsilon):
    os._exit(0)


def raises(device, people, *, epsilon):
    raise type("Own", (BaseException,), {})("a mistake")


def hangs(device, people, *, epsilon):
    time.sleep(3600)


def promises(device, people, *, epsilon):
    print('{"wrong": 0}')
    os.write(1, b"hello")
    levels = people.epsilons.tolist()
    return SimpleNamespace(
        levels=[SimpleNamespace(epsilon_local=e, delta_central=0.0) for e in levels]
    )


number = 3


def answer_lines():
    for line in sys.stdin:
        values = json.loads(line)["values"]
        messages = np.random.default_rng().integers(1 << 30, size=len(values))
        print(json.dumps({"messages": messages.tolist()}), flush=True)


def client(values, levels, rng):
    return [
        value if keeps else "hush"
        for value, keeps in zip(values, rng.random(len(values)) < 0.5, strict=True)
    ]


class Numbers:
    low, high, delta_local = 0.0, 2.0, 0.25

    def randomize(self, values, levels, *, rng):
        return rng.integers(4, size=len(values))
"""


@pytest.fixture(autouse=True)
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "audited_box.py").write_text(BOX, encoding="utf-8")
    # The command looks into the working folder, and must not leave it there.
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "audited_box", raising=False)


@pytest.mark.slow
def test_a_device_by_name_is_asked_about_usual_values(command: Command) -> None:
    shown = command(
        "audit", "randomizer", "kary-response(categories=5)", "--levels", "1",
        "--samples", "4000", "--seed", "1",
    )  # fmt: skip

    assert shown.code == 0
    assert "Audit of kary-response, categories 5: values 0, 1, 4;" in shown.out
    assert "1.1 (+10%)" in shown.out
    assert "All 24 bounds hold together with confidence 0.99" in " ".join(
        shown.out.split()
    )
    assert "Verdict: nothing found. That is not a proof" in shown.out


@pytest.mark.slow
def test_a_broken_box_is_exit_code_1_and_says_by_which_event(command: Command) -> None:
    arguments = (
        "audit", "randomizer", "audited_box:client", "--values", "yes,no", "--levels",
        "0.5", "--samples", "2000", "--seed", "1",
    )  # fmt: skip
    shown, document = command(*arguments), command(*arguments, "--json")

    assert shown.code == document.code == 1
    assert "the promise is broken: at level 0.5, epsilon is at least" in shown.out
    found = document.json()
    assert [behavior["about"] for behavior in found["behaviors"]] == [
        "the same messages in the next call",
        "the same messages after a restart",
        "the same messages in two forks",
        "values that neighbors' messages tell",
        "messages that depend on the one before",
        "time that depends on the value",
    ]
    assert found["verdict"] == "the promise is broken"
    assert found["seed"] == 1
    assert {pair["epsilon"]["event"] for pair in found["pairs"]} == {
        "it is 'yes'",
        "it is 'no'",
    }


@pytest.mark.slow
def test_a_class_says_its_values_and_delta(command: Command) -> None:
    document = command(
        "audit", "randomizer", "audited_box:Numbers", "--levels", "0.5", "--samples",
        "400", "--json",
    ).json()  # fmt: skip

    assert document["delta"] == 0.25
    assert {pair["value"] for pair in document["pairs"]} == {"0.0", "0.7", "2.0"}


def test_too_few_samples_cannot_show_anything_and_that_is_no_success(
    command: Command,
) -> None:
    shown = command(
        "audit", "randomizer", "kary-response(categories=2)", "--levels", "9",
        "--samples", "1000",
    )  # fmt: skip

    assert shown.code == 1
    text = " ".join(shown.out.split())
    assert "This audit cannot see anything at level 9: 500 messages never prove" in text
    assert "Verdict: cannot see anything: there are too few samples" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audited_box:client"], "--values"),
        (["audited_box:nobody", "--values", "0,1"], "module:name"),
        (["no_such_module_here:f", "--values", "0,1"], "module:name"),
        (["audited_box:client", "--values", "0,NaN"], "finite numbers"),
        (["audited_box:client", "--values", "0,1e400"], "finite numbers"),
        (["audited_box:client", "--values", "0,1e-400"], "from 5e-324, or 0"),
        (["audited_box:client", "--values", "0," + "1" * 5_000], "shorter numbers"),
        (["audited_box:client", "--values", '{"a":1,"a":2},0'], "every key once"),
        (["audited_box:client", "--values", '"\\ud800",0'], "whole characters"),
        (["audited_box:client", "--values", "[" * 65 + "]" * 65], "at most 64 deep"),
        (["audited_box:client", "--values", "[" * 20_000], "at most 64 deep"),
        (["laplace", "--timeout", "nan"], "number of the range"),
        (["rappor(bits=8,hashes=1)"], "draws a message from a value"),
        (["no-such-program-here", "--values", "0,1"], "can be started"),
        (["kary-response(categories=3)", "--values", "0,5"], "values"),
        (["laplace", "--values", '"x","y"'], "a flat list of numbers"),
        (["false", "--values", "0,1"], "ended with exit code 1"),
        (["audited_box:raises", "--values", "0,1"], "got TypeError: raises"),
    ],
)
def test_what_makes_no_sense_is_refused(
    command: Command, arguments: list[str], said: str
) -> None:
    for form in ([], ["--json"]):
        outcome = command("audit", "randomizer", *arguments, "--levels", "1", *form)

        # Without the heading, which could pass for the beginning of a result.
        assert outcome.is_refusal
        assert said in outcome.err


@pytest.mark.parametrize("target", ["audited_box:leaves", "audited_box:Leaving"])
def test_a_box_that_exits_is_no_audit_that_found_nothing(
    command: Command, target: str
) -> None:
    values = ["--values", "0,1"] if "leaves" in target else []

    shown = command("audit", "randomizer", target, "--levels", "1", "--json", *values)

    assert shown.is_refusal
    assert "got SystemExit: 0" in shown.err


def test_a_box_that_ends_its_process_is_refused_in_one_line(command: Command) -> None:
    shown = command(
        "audit", "randomizer", "audited_box:gone", "--levels", "1", "--values", "0,1",
        "--json",
    )  # fmt: skip

    assert shown.is_refusal
    assert "got the end of its process with exit code 0" in shown.err


@pytest.mark.slow
def test_what_a_box_prints_is_no_part_of_the_result(command: Command) -> None:
    shown = command(
        "audit", "randomizer", "audited_box:loud", "--levels", "1", "--values", "0,1",
        "--samples", "2000", "--json", "--seed", "1",
    )  # fmt: skip

    assert shown.code == 0
    assert shown.json()["verdict"] == "nothing found"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("leaves", "got SystemExit: 0"),
        ("divides", "got ZeroDivisionError"),
        ("raises", "got Own: a mistake"),
        ("ends", "got the end of its process with exit code 0"),
        ("hangs", "Expected a box that answers within 1.2 s"),
    ],
)
def test_an_accountant_that_does_not_answer_is_refused(
    command: Command, name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "hangs":
        monkeypatch.setattr("shuffledp.cli.audit_accountant._SECONDS_LEFT", 1.0)

    shown = command("audit", "accountant", f"audited_box:{name}", "--seconds", "0.1")

    assert shown.is_refusal
    assert said in shown.err


def test_what_an_accountant_prints_is_no_part_of_the_verdict(command: Command) -> None:
    shown = command(
        "audit", "accountant", "audited_box:promises", "--seconds", "0.1", "--json"
    )

    assert shown.code == 1
    assert shown.json()["wrong"] > 0


def test_a_module_that_exits_when_it_is_imported_is_refused(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "audited_leaver.py").write_text("raise SystemExit(0)", encoding="utf-8")

    shown = command("audit", "accountant", "audited_leaver:account")

    assert shown.is_refusal
    assert "got SystemExit: 0" in shown.err


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("", "Expected a command, got nothing"),
        ("no-such-program-here --now", "got 'no-such-program-here'"),
        ("node 'client.js", "No closing quotation"),
        ("audited_box:nobody", "has no attribute 'nobody'"),
        ("audited_box:number", "Expected a function"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_shown(
    command: Command, target: str, said: str
) -> None:
    shown = command("audit", "randomizer", target, "--levels", "1", "--values", "0,1")

    assert shown.is_refusal
    assert said in shown.err


@pytest.mark.slow
def test_what_was_not_checked_is_said_with_the_verdict(command: Command) -> None:
    program = f"{sys.executable} -c 'import audited_box; audited_box.answer_lines()'"

    shown = command(
        "audit", "randomizer", program, "--levels", "5", "--values", "0,1", "--samples",
        "400",
    )  # fmt: skip

    _, _, verdict = shown.out.partition("Verdict: ")
    assert "Not checked: the same messages in two forks" in verdict


def test_our_accountant_is_the_usual_one(command: Command) -> None:
    shown = command("audit", "accountant", "--seconds", "0.1")

    assert shown.code == 0
    text = " ".join(shown.out.split())
    assert "shuffledp said nothing of 0, and was wrong about 0." in text
