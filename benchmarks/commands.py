"""CPU seconds of the commands that take longest: python benchmarks/commands.py

Each runs in a process of its own, start and imports included; medians of three runs. They
are seconds of one core, so that other work on the machine moves them little. Prints a
Markdown table; a part of a command's line, given as an argument, chooses some.
"""

import os
import resource
import shlex
import statistics
import subprocess
import sys

from machine import describe

RUNS = 3
CENTRAL = "0.02:2500,0.05:5000,0.1:2500"
LEVELS = "0.5:155,1:155,2:155,4:155"
COMMANDS = (
    f"plan mean --low 0 --high 16 --targets {CENTRAL}",
    "plan frequency --categories 17 --targets 0.01:2500,0.02:5000,0.05:2500",
    'calibrate levels --mechanism "kary-response(categories=2)" --delta 1e-6 '
    f"--targets {CENTRAL}",
    'calibrate levels --mechanism "kary-response(categories=30)" --delta 1e-6 '
    "--targets 0.05:2500,0.1:5000,0.2:2500 --rounds 2",
    'calibrate level --mechanism "unary-encoding(categories=30)" --delta 1e-6 '
    "--levels 0.5:2500,1.0:5000,2.0:2500 --change 1:0.1",
    f"account --categories 30 --levels {LEVELS} --delta 1e-6",
    'account --mechanism "unary-encoding(variant=optimized)" --categories 30 '
    f"--levels {LEVELS} --delta 1e-6",
    "claims",
)


def seconds(command: str) -> float:
    """Returns the CPU seconds, user and system, of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "shuffledp", *shlex.split(command)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Threads that wait for each other count as work.
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints the table."""
    print(describe())
    print("| command | CPU seconds |")
    print("|---|---:|")
    for command in COMMANDS:
        if all(part in command for part in sys.argv[1:]):
            median = statistics.median(seconds(command) for _ in range(RUNS))
            print(f"| `{command}` | {median:.2f} |", flush=True)


if __name__ == "__main__":
    main()
