"""Prints what several statistics of the same people cost together, and their export.

    python benchmarks/several_statistics.py

First, epsilons of each statistic alone, their sum, and that of all together. Then what
attacks show: the strongest on one statistic, and the one on all. Then, for one statistic in
1 to 100 rounds: the attack, the certificate, and epsilon after its losses of one round were
exported to dp_accounting, which composes them.
"""

from typing import Any

from machine import describe

import shuffledp as sdp

DELTA = 1e-6
ROUNDS = (1, 10, 30, 100)
PEOPLE = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
COLLECTIONS: dict[str, list[Any]] = {
    "frequencies of 17, a mean, a sum": [
        sdp.Frequency(17),
        sdp.Mean(0, 10),
        sdp.BinarySum(),
    ],
    "frequencies of 4, 9 and 17": [
        sdp.Frequency(4),
        sdp.Frequency(9),
        sdp.Frequency(17),
    ],
    "frequencies of 17, a mean by Laplace noise": [
        sdp.Frequency(17),
        sdp.Mean(0, 10, randomizer=sdp.Laplace(0, 10)),
    ],
}
COUNTS = sdp.Counts(
    (sdp.CountGroup(5, 2, sdp.PoissonNoise(300.0)),), (1.0, 2.0), (0.4, 1.0), 10_000
)
ATTACKED: dict[str, list[Any]] = COLLECTIONS | {
    "ten questions of 8 answers": [sdp.Frequency(8)] * 10,
    "ten questions of 8 to 17 answers": [sdp.Frequency(k) for k in range(8, 18)],
    "two means of one bit": [
        sdp.Mean(0, high, randomizer=sdp.OneBit(0, high)) for high in (1, 10)
    ],
    "frequencies of 8, a mean, counts": [sdp.Frequency(8), sdp.Mean(0, 10), COUNTS],
}


def main() -> None:
    print(describe())
    print_together()
    print_attacks()
    print_exported()


def print_together() -> None:
    print(f"\n{PEOPLE.num_users:,} people at levels 1 and 2, delta = {DELTA:g}")
    print(f"{'together':44} {'level':>5} {'sum':>9} {'together':>9} {'saved':>6}")
    for name, protocols in COLLECTIONS.items():
        alone = [sdp.account(each, PEOPLE, delta=DELTA) for each in protocols]
        # Guarantees at delta each add up to one at delta times their number.
        joint = sdp.account(protocols, PEOPLE, delta=DELTA)
        for index, level in enumerate(joint.levels):
            total = sum(each.levels[index].epsilon_central for each in alone)
            saved = 1.0 - level.epsilon_central / total
            print(
                f"{name:44} {level.chosen:5g} {total:9.6f} "
                f"{level.epsilon_central:9.6f} {saved:6.1%}"
            )


def print_attacks() -> None:
    print(f"\n{'attacks':44} {'level':>5} {'on one':>9} {'on all':>9} {'ratios':>15}")
    for name, protocols in ATTACKED.items():
        different = list(dict.fromkeys(protocols))
        alone = [
            sdp.account(each, PEOPLE, delta=DELTA, rounds=protocols.count(each)).levels
            for each in different
        ]
        joint = sdp.account(protocols, PEOPLE, delta=DELTA)
        for index, level in enumerate(joint.levels):
            one = max(each[index].epsilon_central_lower for each in alone)
            certified, attacked = level.epsilon_central, level.epsilon_central_lower
            print(
                f"{name:44} {level.chosen:5g} {one:9.6f} {attacked:9.6f} "
                f"{certified / one:7.4f} {certified / attacked:7.4f}"
            )
            if not one <= attacked <= certified:
                raise SystemExit("An attack is out of order.")


def print_exported() -> None:
    print("\nfrequencies of 17, at level 2; exported from one round")
    print(f"{'rounds':>6} {'attack':>9} {'certified':>9} {'exported':>9} {'more':>9}")
    protocol = sdp.Frequency(17)
    pld = sdp.to_pld(protocol, PEOPLE, 2.0, delta=1e-3 * DELTA)
    for rounds in ROUNDS:
        level = sdp.account(
            protocol, PEOPLE, delta=DELTA, rounds=rounds, levels=[2.0]
        ).levels[0]
        exported = pld.self_compose(rounds).get_epsilon_for_delta(DELTA)
        more = exported / level.epsilon_central - 1.0
        print(
            f"{rounds:6} {level.epsilon_central_lower:9.6f} "
            f"{level.epsilon_central:9.6f} {exported:9.6f} {more:9.4%}"
        )
        if exported < level.epsilon_central_lower or more > 1e-3:
            raise SystemExit("The exported losses are not within 0.1%.")


if __name__ == "__main__":
    main()
