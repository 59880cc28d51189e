"""One accountant for every statistic: what each is worth, and that its certificate holds.

    python examples/every_statistic.py

10,000 people choose local budgets of 0.5, 1 and 2; for items, they ask for central epsilons
of 0.5, 1 and 2. Printed are the certified central epsilon of every level at delta = 1e-6,
and whether the certificate was confirmed when it was recomputed from what it says ran.
"""

from typing import Any

import shuffledp as sdp
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.round_protocol import TrainingRound

PEOPLE = sdp.Population.from_counts({0.5: 2_500, 1.0: 5_000, 2.0: 2_500})
DELTA = 1e-6

# Sets of up to 2 of 16 items, as devices would be told to send them.
ITEMS = sdp.ItemsFramework(16, 2, (0.5, 1.0, 2.0), DELTA)

PROTOCOLS: dict[str, Any] = {
    "frequency": sdp.Frequency(17),
    "frequency, stratified": sdp.Frequency(17, "stratified"),
    "mean": sdp.Mean(0, 16),
    "mean, Laplace": sdp.Mean(0, 16, randomizer=sdp.Laplace(0, 16)),
    "sum": sdp.BinarySum(),
    "strings, 4 cohorts": sdp.Strings(num_cohorts=4),
    "items": ITEMS.plan(ChoiceCounts.of(PEOPLE)).protocol,
    "a round of training": TrainingRound(ClipLaplaceVectors(0.1), num_coordinates=10),
    "a bare randomizer": sdp.Laplace(0, 1),
}


def main() -> None:
    """Prints a row for each."""
    for name, protocol in PROTOCOLS.items():
        guarantee = sdp.account(protocol, PEOPLE, delta=DELTA)
        held = "holds" if sdp.verify(guarantee).holds else "does NOT hold"
        for statement in guarantee.statements:
            epsilons = ", ".join(f"{e.epsilon_central:g}" for e in statement.levels)
            print(f"{name} - {statement.about}: {epsilons}; {held}")


if __name__ == "__main__":
    main()
