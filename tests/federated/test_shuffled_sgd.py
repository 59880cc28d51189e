"""Shuffled gradient descent: what it promises, and that it learns."""

import json
import math
from dataclasses import dataclass
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.federated import shuffled_sgd
from shuffledp.federated.noisy_steps import NoisySteps
from shuffledp.federated.principal_components import fit
from shuffledp.federated.relu_network import ReluNetwork
from shuffledp.federated.sgd_guarantee import (
    SgdGuarantee,
    sgd_guarantee,
    smallest_epsilons,
)
from shuffledp.population import Population


def exact_delta(mu: float, epsilon: float) -> mpmath.mpf:
    """The divergence of two unit normals at distance mu, with 60 digits and more."""
    # Two tails that agree in their first digits are subtracted.
    with mpmath.workdps(80):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)

        def tail(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.erfc(x / mpmath.sqrt(2)) / 2

        above = tail(epsilon / mu - mu / 2)
        return above - mpmath.exp(epsilon) * tail(epsilon / mu + mu / 2)


@dataclass(frozen=True, eq=False)
class Pictures:
    train_features: np.ndarray
    train_labels: np.ndarray
    test_features: np.ndarray
    test_labels: np.ndarray


def some_pictures(seed: int, count: int = 400, width: int = 12) -> Pictures:
    """Ten classes, each with a random pattern and some noise."""
    rng = np.random.default_rng(seed)
    patterns = rng.random((10, width))
    labels = rng.integers(10, size=2 * count)
    noisy = 0.8 * patterns[labels] + 0.2 * rng.random((2 * count, width))
    features = noisy.astype(np.float32)
    return Pictures(features[:count], labels[:count], features[count:], labels[count:])


def certify(
    people: Population,
    *,
    clip: float = 2.0,
    examples: int = 600,
    epochs: int = 1,
    delta: float = 1e-5,
    noise: bool = True,
) -> SgdGuarantee:
    """Returns what is promised after so many epochs of these steps."""
    steps = NoisySteps(clip, examples, delta, noise)
    return sgd_guarantee(steps, people, epochs=epochs)


@pytest.mark.parametrize("level", [0.0, 0.05, 1.0, 8.0, 300.0])
@pytest.mark.parametrize("delta", [1e-7, 1e-5, 0.1])
def test_one_step_keeps_the_level_of_one_example(level: float, delta: float) -> None:
    (sigma,) = NoisySteps(2.0, 600, delta).deviations(np.array([level]))

    sensitivity = 2 * 2.0 / 600
    # No more than delta, with a rounding of 1e-11 of it, and no more noise than needed.
    assert exact_delta(sensitivity / sigma, level) <= delta * (1 + 1e-11)
    assert exact_delta(1.0001 * sensitivity / sigma, level) > delta


@pytest.mark.parametrize("epochs", [1, 50])
@pytest.mark.parametrize("examples", [1, 600])
def test_guarantees_hold_and_are_tight(epochs: int, examples: int) -> None:
    people = Population.from_counts({0.05: 40, 0.5: 30, 1.0: 30})

    guarantee = certify(people, clip=2.0, examples=examples, epochs=epochs, delta=1e-5)

    for row in guarantee.levels:
        for sensitivity, mu, epsilon in (
            (4.0 / examples, row.example_mu, row.example_epsilon),
            (4.0, row.client_mu, row.client_epsilon),
        ):
            exact = math.sqrt(epochs) * sensitivity / row.deviation
            assert exact <= mu <= exact * (1 + 1e-8)
            assert exact_delta(exact, epsilon) <= 1e-5
            assert exact_delta(exact, epsilon * (1 - 1e-6)) > 1e-5


def test_a_single_step_costs_the_level_itself() -> None:
    people = Population.from_counts({0.05: 1, 1.0: 99})

    guarantee = certify(people, clip=2.0, examples=600, epochs=1, delta=1e-5)

    for row, level in zip(guarantee.levels, (0.05, 1.0), strict=True):
        assert row.epsilon_local == level
        assert row.example_epsilon == pytest.approx(level, rel=1e-6)


def test_small_and_endless_mu_have_the_epsilon_known_by_hand() -> None:
    epsilons = smallest_epsilons(np.array([0.0, 1e-9, math.inf]), 1e-5)

    # Two normals at distance 1e-9 differ by less than delta at epsilon = 0.
    assert epsilons.tolist() == [0.0, 0.0, math.inf]


def test_replacing_one_example_moves_the_step_by_its_sensitivity_at_most() -> None:
    network = ReluNetwork((3, 4, 10))
    rng = np.random.default_rng(1)
    features = rng.normal(size=(8, 3)).astype(np.float32)
    labels = rng.integers(10, size=8)
    largest = 0.0

    for trial in range(300):
        weights = 3 * rng.normal(size=network.num_parameters).astype(np.float32)
        # Pairs of one picture with two labels point in nearly opposite directions.
        other, others = features.copy(), labels.copy()
        other[0] = 30 * rng.normal(size=3) if trial % 2 else features[0]
        others[0] = (labels[0] + 1 + rng.integers(9)) % 10
        moved = network.clipped_sum(weights, other, others, 0.7)
        moved -= network.clipped_sum(weights, features, labels, 0.7)
        largest = max(largest, float(np.linalg.norm(moved)) / 8)

    # What `deviations` is told: 2 C / k, with the rounding of single precision.
    assert largest <= 2 * 0.7 / 8 * (1 + 1e-5)
    assert largest >= 0.7 * 2 * 0.7 / 8


@pytest.mark.slow
def test_steps_get_the_noise_of_their_clients_level() -> None:
    pictures = some_pictures(2, count=20)
    components = fit(pictures.train_features, 12)
    levels = [0.1, 1.0]

    first = []
    for seed in range(40):
        runs = [
            shuffled_sgd.train(
                pictures, levels, rng=np.random.default_rng(seed), epochs=1,
                clip=1e-6, learning_rate=1e6, components=components, hidden=(20,),
                noise=noise,
            ).weights
            for noise in (True, False)
        ]  # fmt: skip
        first.append(runs[0] - runs[1])
    measured = float(np.var(first))

    # One step of each client; the gradients, at most 1e-6, vanish in the noise:
    # sigma is 2e-7 / mu per coordinate, and mu below 0.3.
    sigmas = NoisySteps(1e-6, 10, 1e-5).deviations(np.array(levels))
    expected = 1e12 * float(np.sum(sigmas**2))
    # 40 times 470 normal numbers; the gradients differ between the runs by up to 4, that
    # is 16 in all coordinates together.
    numbers = 40 * len(first[0])
    allowed = 5 * math.sqrt(2 / numbers) + 32 / (len(first[0]) * expected)
    assert abs(measured / expected - 1) < allowed


def test_training_learns_and_reports_every_epoch() -> None:
    calls: list[tuple[int, float, float]] = []

    result = shuffled_sgd.train(
        some_pictures(3),
        [8.0] * 5 + [12.0] * 5,
        rng=np.random.default_rng(3),
        epochs=30,
        learning_rate=0.5,
        on_epoch=lambda *numbers: calls.append(numbers),
    )

    assert [call[0] for call in calls] == list(range(1, 31))
    assert tuple(call[1] for call in calls) == result.train_accuracy
    assert tuple(call[2] for call in calls) == result.test_accuracy
    assert result.test_accuracy[-1] > 0.8
    assert result.guarantee.epochs == 30


def test_the_same_seed_trains_the_same_model() -> None:
    runs = [
        shuffled_sgd.train(
            some_pictures(4), [1.0] * 4, rng=np.random.default_rng(seed), epochs=2
        ).weights
        for seed in (1, 1, 2)
    ]

    np.testing.assert_array_equal(runs[0], runs[1])
    assert np.any(runs[0] != runs[2])


def test_only_noise_and_public_components_are_certified() -> None:
    pictures = some_pictures(5)
    public = fit(some_pictures(6).train_features, 12)

    certified = {
        (components is public, noise): shuffled_sgd.train(
            pictures, [1.0] * 4, rng=np.random.default_rng(5), epochs=1,
            components=components, noise=noise,
        ).guarantee
        for components in (public, None)
        for noise in (True, False)
    }  # fmt: skip

    assert [key for key in certified if certified[key].certified] == [(True, True)]
    assert "components" in certified[False, True].note
    assert certified[True, False].levels[0].example_epsilon == math.inf


def test_results_can_be_written_down() -> None:
    result = shuffled_sgd.train(
        some_pictures(7), [0.5, 1.0], rng=np.random.default_rng(7), epochs=2
    )

    record = json.loads(json.dumps(result.to_dict()))

    assert len(record["test_accuracy"]) == 2
    assert [row["epsilon_local"] for row in record["guarantee"]["levels"]] == [0.5, 1.0]
    assert record["guarantee"]["certified"] is False
    assert record["guarantee"]["protocol"]["parameters"]["examples"] == 200
    assert "published" not in json.dumps(record)


def test_what_is_endless_is_written_as_infinity() -> None:
    people = Population.from_counts({1.0: 1})

    guarantee = certify(people, clip=2.0, examples=6, epochs=1, delta=1e-5, noise=False)

    record = json.loads(json.dumps(guarantee.to_dict(), allow_nan=False))
    assert record["levels"][0]["example_epsilon"] == "infinity"
    assert record["certified"] is False


@pytest.mark.slow
def test_a_step_is_what_its_object_sends_and_its_guarantee_speaks_of() -> None:
    network, rng = ReluNetwork((3, 4, 10)), np.random.default_rng(2)
    steps = NoisySteps(0.7, 8, 1e-5)
    features = rng.normal(size=(8, 3)).astype(np.float32)
    labels = rng.integers(10, size=8)
    weights = rng.normal(size=network.num_parameters).astype(np.float32)
    people = Population.from_counts({1.0: 3})
    (row,) = sgd_guarantee(steps, people, epochs=1).levels

    sent = np.stack(
        [
            steps.send(
                network, weights, features, labels, deviation=row.deviation, rng=rng
            )
            for _ in range(4_000)
        ]
    )

    mean = network.clipped_sum(weights, features, labels, 0.7) / 8
    assert np.linalg.norm(mean) <= 0.7
    # Five standard errors of 4,000 normal numbers in each of the coordinates.
    error = 5.0 * row.deviation / math.sqrt(4_000)
    np.testing.assert_allclose(sent.mean(axis=0), mean, rtol=0, atol=error)
    assert sent.std() == pytest.approx(row.deviation, rel=0.02)
    assert sgd_guarantee(steps, people, epochs=1).protocol == steps.identity
    with pytest.raises(InvalidInputError, match="8 examples"):
        steps.send(network, weights, features[:4], labels[:4], deviation=1.0, rng=rng)


def test_nothing_central_is_certified_of_steps_that_depend_on_each_other() -> None:
    people = Population.from_counts({0.5: 50, 1.0: 50})

    with pytest.raises(CertificationError, match="no amplification by the order"):
        account(NoisySteps(2.0, 600, 1e-5), people, delta=1e-5)


@pytest.mark.parametrize(
    "setting",
    [
        {"epochs": 0},
        {"clip": 0.0},
        {"clip": math.nan},
        {"clip": math.inf},
        {"clip": 1e39},
        {"clip": 1e-50},
        {"clip": "2"},
        {"learning_rate": 0.0},
        {"learning_rate": 1e-50},
        {"learning_rate": math.inf},
        {"epochs": 2.5},
        {"epochs": True},
        {"delta": math.nan},
        {"delta": 0.0},
        {"delta": 1.0},
        {"hidden": (0,)},
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        shuffled_sgd.train(
            some_pictures(8), [1.0] * 4, rng=np.random.default_rng(8), **setting
        )


@pytest.mark.parametrize("rate", [1e36, 1e38, 1e39, 1e300])
def test_training_that_diverges_says_so_and_nothing_else(rate: float) -> None:
    # Warnings are errors here: none may come before.
    with pytest.raises(InvalidInputError, match="diverged"):
        shuffled_sgd.train(
            some_pictures(10),
            [1.0] * 4,
            rng=np.random.default_rng(10),
            epochs=2,
            learning_rate=rate,
        )


@pytest.mark.parametrize(("clip", "level"), [(1e-30, 700.0), (1e30, 0.0)])
def test_noise_that_single_precision_cannot_hold_is_refused(
    clip: float, level: float
) -> None:
    people = Population.from_counts({level: 5})

    with pytest.raises(InvalidInputError, match="noise"):
        certify(people, clip=clip, examples=600, epochs=1, delta=1e-5)


def test_components_of_the_test_pictures_make_a_certificate() -> None:
    pictures = some_pictures(11)

    components = shuffled_sgd.components_of(pictures.test_features)
    result = shuffled_sgd.train(
        pictures, [1.0] * 4, rng=np.random.default_rng(11), epochs=1,
        components=components,
    )  # fmt: skip

    # Pictures of 12 pixels have no 60 components.
    np.testing.assert_array_equal(
        components.directions, fit(pictures.test_features, 12).directions
    )
    assert result.guarantee.certified
    assert "count as public" in result.guarantee.note


def test_without_public_components_the_note_says_how_to_get_a_certificate() -> None:
    result = shuffled_sgd.train(
        some_pictures(12), [1.0] * 4, rng=np.random.default_rng(12), epochs=1
    )

    assert not result.guarantee.certified
    assert "--public-components" in result.guarantee.note


def test_levels_that_cannot_be_are_refused() -> None:
    for levels in ([], [-1.0], [math.nan]):
        with pytest.raises(PopulationError):
            shuffled_sgd.train(some_pictures(9), levels, rng=np.random.default_rng(9))
    with pytest.raises(InvalidInputError, match="clients"):
        shuffled_sgd.train(some_pictures(9), [1.0] * 401, rng=np.random.default_rng(9))
