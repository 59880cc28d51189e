"""Writes survey.csv: 20,000 made-up people with levels, to try `shuffledp estimate` on.

    python examples/survey.py [FILE]

Columns: epsilon (the level a person chose), answer (one of five), hours (per day in front
of a screen, 0 to 16), smokes (0 or 1), browser (a string; few occur often, many rarely).
"""

import csv
import sys
from pathlib import Path

import numpy as np

NUM_USERS = 20_000
LEVELS = {0.5: 0.25, 1.0: 0.5, 4.0: 0.25}
ANSWERS = ("never", "seldom", "sometimes", "often", "always")


def main(path: str = "survey.csv") -> None:
    """Writes the table."""
    rng = np.random.default_rng(1)
    levels = rng.choice(list(LEVELS), NUM_USERS, p=list(LEVELS.values()))
    answers = rng.choice(ANSWERS, NUM_USERS, p=[0.1, 0.2, 0.35, 0.25, 0.1])
    hours = np.clip(rng.gamma(4.0, 1.2, NUM_USERS), 0.0, 16.0).round(1)
    smokes = (rng.random(NUM_USERS) < 0.22).astype(int)
    browsers = rng.zipf(1.7, NUM_USERS) % 60
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["epsilon", "answer", "hours", "smokes", "browser"])
        for row in zip(levels, answers, hours, smokes, browsers, strict=True):
            writer.writerow([*row[:4], f"browser-{row[4]:02d}"])
    print(f"Wrote {NUM_USERS:,} people to {path}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
