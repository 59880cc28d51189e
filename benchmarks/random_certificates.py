"""Certificates of random protocols, people and parameters, of every kind."""

import dataclasses
from typing import Any

import numpy as np

import shuffledp as sdp
from shuffledp.errors import CertificationError, InvalidInputError

_MOST_PEOPLE = 10**6
# One answer, items, two groups, rounds, a list: compositions take longest.
_SHAPES = [0.6, 0.25, 0.05, 0.05, 0.05]


def random_certificate(rng: np.random.Generator) -> dict[str, Any]:
    """Returns a certificate of a random protocol for random people."""
    size = int(10 ** rng.uniform(0.5, np.log10(_MOST_PEOPLE)))
    most = min(4, size - 1)
    counts = rng.multinomial(size, rng.dirichlet(np.ones(rng.integers(1, most + 1))))
    levels = np.round(rng.uniform(0.05, rng.choice([1.0, 3.0, 8.0]), counts.size), 3)
    people = sdp.Population.from_counts(
        {
            float(level): int(count)
            for level, count in zip(levels, counts, strict=True)
            if count
        }
    )
    absent = int(rng.choice([0, 0, people.num_users // 10]))
    given: dict[str, Any] = {"delta": float(10 ** rng.uniform(-12, -2))}
    if rng.random() < 0.5:
        given = {"epsilon": float(round(rng.uniform(0.0, float(levels.max())), 4))}
    protocol = random_protocol(rng)
    return sdp.account(protocol, people, absent=absent, **given).to_dict()


def random_protocol(rng: np.random.Generator) -> Any:
    """Returns a protocol that the checker knows."""
    categories = int(rng.choice([3, 4, 17, 100]))
    mode: Any = str(rng.choice(["agnostic", "stratified"]))
    protocols = (
        lambda: sdp.BinarySum(mode),
        lambda: sdp.Frequency(2, mode),
        lambda: sdp.Frequency(categories, mode),
        lambda: sdp.Frequency(categories, mode, sdp.HadamardResponse(categories)),
        lambda: sdp.SubsetSelection(categories, max(2, categories // 4)),
        lambda: sdp.LocalHashing(categories, int(rng.choice([2, 3, 5]))),
        lambda: sdp.GridResponse(low=0.0, high=1.0, num_values=categories),
        lambda: sdp.Mean(0.0, 1.0, mode),
    )
    return protocols[int(rng.integers(len(protocols)))]()


def random_composed(rng: np.random.Generator) -> dict[str, Any]:
    """Returns a certificate of rounds, bits, or two statistics of the same people."""
    size = int(10 ** rng.uniform(2.5, 5.0))
    levels = np.unique(np.round(rng.uniform(0.05, 3.0, 2), 3)).tolist()
    people = sdp.Population.from_counts(
        {level: size * (place + 1) for place, level in enumerate(levels)}
    )
    given: dict[str, Any] = {"delta": float(10 ** rng.uniform(-9, -2))}
    if rng.random() < 0.3:
        given = {"epsilon": float(np.round(rng.uniform(0.0, levels[0]), 4))}
    given["absent"] = int(rng.choice([0, size // 10]))
    categories = int(rng.choice([3, 4, 17]))
    shape = rng.choice(["rounds", "bits", "unary", "rappor", "list"])
    protocol: Any = sdp.Frequency(categories)
    if shape == "rounds":
        given["rounds"] = int(rng.choice([2, 3, 10]))
    elif shape == "bits":
        protocol, given["rounds"] = sdp.BinarySum(), int(rng.choice([2, 10]))
    elif shape == "unary":
        variant = str(rng.choice(["symmetric", "optimized"]))
        protocol = sdp.UnaryEncoding(categories, variant)
    elif shape == "rappor":
        protocol = sdp.Rappor(32, int(rng.choice([1, 2])))
    else:
        protocol = [protocol, sdp.BinarySum()]
    return sdp.account(protocol, people, **given).to_dict()


def random_counts(rng: np.random.Generator) -> dict[str, Any]:
    """Returns a certificate of counts or items, mostly of one answer in one round."""
    while True:
        size = int(10 ** rng.uniform(1.5, np.log10(_MOST_PEOPLE)))
        honest = int(size * rng.uniform(0.7, 1.0))
        targets = tuple(np.unique(np.round(rng.uniform(0.05, 3.0, 3), 3)).tolist())
        rates = tuple(
            np.sort(np.round(rng.uniform(0.1, 1.0, len(targets)), 3)).tolist()
        )
        counts = rng.multinomial(
            size - len(targets), rng.dirichlet(np.ones(len(targets)))
        )
        people = sdp.Population.from_counts(
            dict(zip(targets, (counts + 1).tolist(), strict=True))
        )
        given: dict[str, Any] = {"absent": int(rng.choice([0, size - honest]))}
        given["delta"] = float(10 ** rng.uniform(-10, -2))
        if rng.random() < 0.3:
            del given["delta"]
            given["epsilon"] = float(np.round(rng.uniform(0.0, 2.0), 4))
        shape = rng.choice(["one", "items", "groups", "rounds", "list"], p=_SHAPES)
        protocol: Any = _random_collection(rng, targets, rates, honest)
        if shape == "items":
            answers, messages = (
                int(rng.choice([1, 1, 1, 3])),
                float(rng.uniform(0.05, 2)),
            )
            protocol = sdp.Items(20, answers, targets, rates, messages, answers + 20)
        elif shape == "groups":
            other = _random_collection(rng, targets, rates, honest)
            groups = (*protocol.groups, *other.groups)
            protocol = sdp.Counts(groups, targets, rates, honest)
        elif shape == "rounds":
            given["rounds"] = int(rng.integers(2, 9))
        elif shape == "list":
            protocol = [protocol, _random_collection(rng, targets, rates, honest)]
        if shape != "items" and rng.random() < 0.3:
            protocol = _floored(rng, protocol)
        try:
            return sdp.account(protocol, people, **given).to_dict()
        except (CertificationError, InvalidInputError):
            continue  # Too little noise for these rates, or reports that are too small.


def random_noises(rng: np.random.Generator) -> dict[str, Any]:
    """Returns a certificate of counts among dummies of the shuffler, or noise in slots."""
    while True:
        size = int(10 ** rng.uniform(3.0, 5.0))
        target = float(np.round(rng.uniform(0.2, 2.0), 3))
        people = sdp.Population.from_counts({target: size})
        given: dict[str, Any] = {"absent": int(rng.choice([0, size // 10]))}
        given["delta"] = float(10 ** rng.uniform(-9, -3))
        if rng.random() < 0.3:
            del given["delta"]
            given["epsilon"] = float(np.round(rng.uniform(0.0, 1.5), 4))
        noise: Any = sdp.ShufflerNoise(
            float(np.round(rng.uniform(0.3, 0.95), 3)), int(rng.integers(20, 400))
        )
        honest = 1
        if rng.random() < 0.5:
            honest = size
            noise = sdp.SlotNoise(
                slots=size * int(rng.integers(1, 4)),
                decay=float(np.round(rng.uniform(0.3, 0.7), 3)),
                longest=int(rng.choice([2, 4, 6])),
                pairs=float(np.round(rng.uniform(10.0, 100.0), 1)),
            )
        group = sdp.CountGroup(int(rng.choice([1, 2, 8])), 1, noise)
        rate = float(rng.choice([1.0, np.round(rng.uniform(0.1, 1.0), 3)]))
        try:
            protocol = sdp.Counts((group,), (target,), (rate,), honest)
            return sdp.account(protocol, people, **given).to_dict()
        except (CertificationError, InvalidInputError):
            continue  # Too few dummies or slots.


def _random_collection(
    rng: np.random.Generator,
    targets: tuple[float, ...],
    rates: tuple[float, ...],
    honest: int,
) -> sdp.Counts:
    noise: Any = sdp.PoissonNoise(float(np.round(10 ** rng.uniform(1.0, 3.5), 2)))
    if rng.random() < 0.5:
        pairs = float(np.round(10 ** rng.uniform(1.5, 3.0), 1))
        shape = float(rng.choice([4.0, 8.0, 12.0, np.inf]))
        noise = sdp.GeometricNoise(
            float(np.round(rng.uniform(0.3, 0.9), 3)), pairs, shape
        )
    group = sdp.CountGroup(int(rng.choice([1, 2, 8, 100])), 1, noise)
    return sdp.Counts((group,), targets, rates, honest)


def _floored(rng: np.random.Generator, protocol: Any) -> Any:
    """Returns the protocol, or all of a list, with a floor."""
    if isinstance(protocol, list):
        return [_floored(rng, part) for part in protocol]
    local_epsilon = float(np.round(10 ** rng.uniform(-2.0, 1.0), 3))
    return dataclasses.replace(protocol, local_epsilon=local_epsilon)
