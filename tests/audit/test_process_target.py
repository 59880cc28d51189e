import itertools
import os
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from shuffledp.audit import process_target
from shuffledp.audit.audit_plan import plan_audit
from shuffledp.audit.pairs import audited_pairs
from shuffledp.audit.process_target import ProcessTarget
from shuffledp.errors import InvalidInputError

RNG = np.random.default_rng(1)
LEVELS = np.ones(3)

RESPONSE = """
import json, math, random, sys
for line in sys.stdin:
    question = json.loads(line)
    messages = []
    for value, level in zip(question["values"], question["levels"]):
        keeps = random.random() < 1 / (1 + math.exp(-level))
        messages.append(value if keeps else 1 - value)
    print(json.dumps({"messages": messages}), flush=True)
"""


def program(folder: Path, text: str, *, seconds: float = 20.0) -> ProcessTarget:
    path = folder / "client.py"
    path.write_text(text, encoding="utf-8")
    return ProcessTarget(f"{sys.executable} -S {path}", seconds)


def test_a_program_behind_a_pipe_is_audited(tmp_path: Path) -> None:
    plan = plan_audit([0, 1], [1.0], samples=20_000, confidence=1 - 1e-6)

    pairs = audited_pairs(program(tmp_path, RESPONSE), plan, rng=RNG)

    # Exactly 1; the program's randomness is its own: one alarm in a million.
    assert all(0.6 < pair.epsilon.bound <= 1.0 for pair in pairs)


def test_numbers_keep_all_digits_both_ways(tmp_path: Path) -> None:
    echo = (
        "import json, sys\nfor line in sys.stdin:\n"
        " print(json.dumps({'messages': json.loads(line)['values']}), flush=True)"
    )
    values = np.array([0.1, 1 / 3, 5e-324])

    messages = program(tmp_path, echo).draw(values, LEVELS, rng=RNG)

    assert messages.raw.tolist() == values.tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import sys; sys.exit('no license')",
            "which ended with exit code 1 and says: no license",
        ),
        ("input(); raise SystemExit(7)", r"which ended with exit code 7\.$"),
        ("import os; os.kill(os.getpid(), 9)", r"which was ended by signal 9\.$"),
        ("print('hello', flush=True); input(); input()", "on one line .*'hello"),
        ("input(); print('{\"messages\": [1]}')", "with 3 messages .*, got 1: "),
        ("input(); print('[]')", "with 3 messages"),
        ("input(); print('[' * 100_000)", "with 3 messages"),
        ("input(); print('{}', end='')", "an answer on one line"),
        ("import time; time.sleep(600)", "an answer within 0.3 seconds"),
    ],
)
def test_programs_that_do_not_answer_are_refused_and_gone(
    tmp_path: Path, text: str, said: str
) -> None:
    target = program(tmp_path, text, seconds=0.3 if "sleep" in text else 20.0)

    with pytest.raises(InvalidInputError, match=said):
        target.draw([0, 1, 2], LEVELS, rng=RNG)


def test_a_program_that_writes_without_end_has_no_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import os\nwhile True: os.write(1, bytes(65_536))"
    # Far less than is written at once: something is ready at any time.
    monkeypatch.setattr(process_target, "_CHUNK", 1024)
    # Seconds that pass by reads, not by how fast this machine writes.
    seconds = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: float(next(seconds)))
    monkeypatch.setattr(process_target, "time", clock)

    with pytest.raises(InvalidInputError, match="an answer within 20 seconds"):
        program(tmp_path, text).draw([0, 1, 2], LEVELS, rng=RNG)

    assert next(seconds) <= 22


@pytest.mark.parametrize("command", ["", "/nowhere/at/all --now"])
def test_commands_that_cannot_be_started_are_refused(command: str) -> None:
    with pytest.raises(InvalidInputError, match="Expected a command"):
        ProcessTarget(command).draw([0], LEVELS[:1], rng=RNG)


def is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    # Dead, but nobody has asked how it ended.
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_what_a_program_started_is_killed_with_it(tmp_path: Path) -> None:
    text = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "other = subprocess.Popen(['sleep', '600'])\n"
        "input(); print('{\"messages\": [%d, %d, 0]}' % (os.getpid(), other.pid))\n"
        "sys.stdout.flush(); time.sleep(600)\n"
    )
    with program(tmp_path, text).started() as box:
        pids = box.draw([0, 1, 2], LEVELS, rng=RNG).raw[:2].tolist()
        assert all(is_running(pid) for pid in pids)

    end = time.monotonic() + 20.0
    while any(is_running(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.01)
    try:
        assert not any(is_running(pid) for pid in pids)
    finally:
        for pid in pids:
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
