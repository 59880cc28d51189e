"""docs/how-to/three-parties.md runs as it stands, and ends with a checked result."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "three-parties.md"


@pytest.mark.slow
def test_the_walk_of_three_parties_ends_with_a_result_that_was_checked(
    tmp_path: Path,
) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    # Services that were begun end with the shell, wherever it stops.
    stop = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"
    script = "\n".join(["set -euo pipefail", stop, *blocks, "wait || true"])
    commands = tmp_path / "commands"
    commands.mkdir()
    installed = commands / "shuffledp"
    installed.write_text(f'#!/bin/sh\nexec {sys.executable} -m shuffledp "$@"\n')
    installed.chmod(0o755)
    folder = tmp_path / "empty"
    folder.mkdir()

    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": f"{commands}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "2,000 of 2,000 reports were accepted." in done.stdout
    assert "The signed result of epoch 1 counts all 2,000 messages." in done.stdout
    assert re.search(r"epoch 2\b", done.stdout.split("counts all 2,000")[1])
    # Nobody's key is in another's folder.
    for party in ("analyst", "shuffler", "enroller"):
        secrets = {path.parts[-3] for path in folder.rglob(f"{party}.json")}
        assert secrets == {party}
