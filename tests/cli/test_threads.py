"""Commands multiply on one thread, unless they are told otherwise."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
from shuffledp.cli.main import main
assert "numpy" not in sys.modules
try:
    main()
except SystemExit:
    assert "numpy" in sys.modules
    print(os.environ["OPENBLAS_NUM_THREADS"])
"""


@pytest.mark.parametrize("asked", ["", "2"])
def test_one_thread_multiplies_unless_others_are_asked_for(asked: str) -> None:
    environment = {
        name: value for name, value in os.environ.items() if "NUM_THREADS" not in name
    }
    if asked:
        environment["OPENBLAS_NUM_THREADS"] = asked
    command = [sys.executable, "-c", PROGRAM, "calibrate", "people"]
    command += ["--mechanism", "one-bit", "--delta", "1e-6"]
    command += ["--levels", "1:100", "--targets", "0.5"]

    found = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )

    # It is read by NumPy, which was imported after it was set.
    assert found.stdout.splitlines()[-1] == (asked or "1")
