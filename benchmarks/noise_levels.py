"""Noise of many levels: certified epsilons with and without blankets in steps, and attacks.

    python benchmarks/noise_levels.py

The table is that of docs/theory/covers.md ("A blanket in steps").
"""

from unittest.mock import patch

import numpy as np

import shuffledp as sdp

_LEVELS = np.linspace(0.05, 1.0, 500).tolist()
_SHOWN = [_LEVELS[position] for position in (0, 10, 40, 125, 250, 375, 499)]
_PEOPLE_PER_LEVEL, _DELTA = 20, 1e-6


def main() -> None:
    people = sdp.Population.from_counts(dict.fromkeys(_LEVELS, _PEOPLE_PER_LEVEL))
    columns: list[list[float]] = []
    for device in (sdp.Gaussian(), sdp.Laplace()):
        with patch.object(type(device), "noise_densities", return_value=None):
            before = sdp.account(device, people, delta=_DELTA, levels=_SHOWN).levels
        after = sdp.account(device, people, delta=_DELTA, levels=_SHOWN).levels
        columns.append([level.epsilon_central for level in before])
        columns.append([level.epsilon_central for level in after])
        columns.append([level.epsilon_central_lower for level in after])
    print(
        "| budget | Gaussian: shapes above | in steps | attack "
        "| Laplace: shapes above | in steps | attack |"
    )
    print("|---" * 7 + "|")
    for level, *numbers in zip(_SHOWN, *columns, strict=True):
        print(f"| {level:.3g} | " + " | ".join(f"{each:g}" for each in numbers) + " |")


if __name__ == "__main__":
    main()
