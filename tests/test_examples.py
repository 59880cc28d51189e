"""Examples run, and print what the documentation says they print."""

import runpy
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
