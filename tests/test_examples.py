"""Examples run, and print what the documentation says they print."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_counterexample_lies_between_two_counts_and_the_certificate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(EXAMPLES / "counterexample.py"), run_name="__main__")

    two_counts, exact, certified = (
        line.split()[-1] for line in capsys.readouterr().out.splitlines()
    )
    assert (two_counts, exact) == ("8.9002e-04", "1.2126e-03")
    assert float(exact) <= float(certified) <= 1.02 * float(exact)


def test_plain_noise_gives_away_what_cells_of_a_grid_do_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(EXAMPLES / "floating_point.py"), run_name="__main__")

    plain, cells = capsys.readouterr().out.splitlines()
    shares = [int(word.rstrip("%")) for word in plain.split() if word.endswith("%")]
    assert len(shares) == 2
    assert max(shares) < 60
    assert "all of both, at most 2.7183 times as often" in cells


def test_averaging_beats_fresh_noise_and_not_a_permanent_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(EXAMPLES / "averaging_attack.py"), run_name="__main__")

    tail, composed, permanent, _, *rows = (
        line.split() for line in capsys.readouterr().out.splitlines()
    )
    assert (tail[-1], composed[-1], permanent[-1]) == ("1.435e-25", "109.9", "1.0986")
    shares = [[float(share) for share in row[1:]] for row in rows]
    fresh, kept = zip(*shares, strict=True)
    # 10,000 people know a share of 3/4 to 0.0043: five times that.
    assert abs(fresh[0] - 0.75) < 0.022
    assert fresh[2] > 0.999
    assert kept[0] == kept[1] == kept[2]
    assert abs(kept[0] - 0.75) < 0.022


def test_bias_of_dependent_levels_is_the_one_that_was_predicted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(EXAMPLES / "dependent_levels.py"), run_name="__main__")

    truth, agnostic, expected, stratified = (
        [float(number) for number in re.findall(r"[-+]?\d+\.\d+", line)]
        for line in capsys.readouterr().out.splitlines()
    )
    # Both intervals are at 95%, and the draws of the example are fixed.
    assert agnostic[1] <= truth[0] + expected[0] <= agnostic[2] < truth[0]
    assert stratified[1] <= truth[0] <= stratified[2]
    assert agnostic[-1] < stratified[-1]


@pytest.mark.slow
def test_every_statistic_has_a_certificate_that_holds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(EXAMPLES / "every_statistic.py"), run_name="__main__")

    lines = capsys.readouterr().out.splitlines()
    # Strings make two statements, a round of training three.
    assert len(lines) == 12
    assert all(line.endswith("; holds") for line in lines)


def test_other_libraries_are_asked_behind_a_pipe() -> None:
    # None of them is installed here: whoever asks for one is told so in its own words.
    example = EXAMPLES / "audit_peers.py"
    unknown, absent = (
        subprocess.run(
            [sys.executable, "-S", str(example), name],
            input='{"values": [0], "levels": [1.0]}\n',
            capture_output=True,
            text=True,
            check=False,
        )
        for name in ("nobody", "pure-ldp-de")
    )

    assert unknown.returncode == absent.returncode == 1
    assert unknown.stderr.startswith("Expected one of multi-freq-grr,")
    assert "No module named 'pure_ldp'" in absent.stderr


@pytest.mark.slow
def test_dishonest_people_are_stated_as_in_the_documentation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    threat_model = EXAMPLES.parent / "docs" / "topics" / "threat-model.md"
    if not threat_model.is_file():
        pytest.skip("the source distribution has no documentation")

    runpy.run_path(str(EXAMPLES / "dishonest_people.py"), run_name="__main__")

    text = threat_model.read_text(encoding="utf-8")
    assert capsys.readouterr().out.rstrip() in text
