"""Training: a model learns, and the guarantee comes first."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.federated import frameworks, training
from shuffledp.federated.clients import Clients, partition
from shuffledp.federated.frameworks import FRAMEWORKS, Framework
from shuffledp.federated.guarantees import TrainingGuarantee, certify_training
from shuffledp.federated.local_training import LocalTraining
from shuffledp.federated.other_vectors import PlainVectors
from shuffledp.federated.softmax import SoftmaxRegression
from shuffledp.federated.training import TrainingResult, train
from shuffledp.population import Population
from shuffledp.types import Floats

CLASSES, FEATURES = 3, 8
MODEL = SoftmaxRegression(FEATURES, CLASSES)


def examples(seed: int, number: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Each class is bright in some places of its own, in noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=number)
    bright = np.arange(FEATURES) % CLASSES == labels[:, None]
    features = np.clip(0.6 * bright + rng.normal(0.2, 0.2, bright.shape), 0.0, 1.0)
    return features.astype(np.float32), labels


def people(number: int = 1_500) -> Clients:
    return partition(*examples(1, 2 * number), number, rng=np.random.default_rng(1))


@cache
def some_guarantee() -> TrainingGuarantee:
    """One that is quick to compute, for tests of something else."""
    return certify_training(
        "non-private",
        Population.from_counts({1.0: 2}),
        clip=1.0,
        coordinates=1,
        rounds=1,
        delta=0.1,
    )


def run(framework: str, *, number: int = 1_500, **changes: Any) -> TrainingResult:
    """Trains; without a guarantee of its own, unless None is passed for it."""
    features, labels = examples(2, 600)
    settings: dict[str, Any] = {
        "levels": np.where(np.arange(number) % 2, 1.0, 3.0),
        "test_features": features,
        "test_labels": labels,
        "rounds": 3,
        "clip": 0.3,
        "server_rate": 2.0,
        "delta": 1e-4,
        "rng": np.random.default_rng(7),
    } | changes
    levels = settings.pop("levels")
    # It says that it is of this training, and nothing else: not what is tested here.
    claimed = replace(
        some_guarantee(),
        framework=framework,
        num_users=number,
        coordinates=MODEL.num_parameters,
        rounds=settings["rounds"],
        delta=settings["delta"],
    )
    settings = {"guarantee": claimed} | settings
    return train(MODEL, people(number), levels, framework=framework, **settings)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_framework_learns_at_generous_levels(framework: str) -> None:
    result = run(framework, levels=np.where(np.arange(1_500) % 2, 6.0, 8.0))

    # Guessing is right in a third of the cases.
    assert result.accuracy[-1] > 0.8
    assert len(result.accuracy) == 3
    assert result.framework == framework


@pytest.mark.parametrize("framework", ["one-bit-apes", "s-apes", "ldp-min"])
def test_the_guarantee_is_that_of_the_settings(framework: str) -> None:
    levels = np.array([1.0, 1.0, 2.0])

    result = run(framework, number=3, levels=levels, guarantee=None)

    assert result.guarantee == certify_training(
        framework,
        Population.from_budgets(levels),
        clip=0.3,
        coordinates=MODEL.num_parameters,
        rounds=3,
        delta=1e-4,
    )


def test_without_noise_it_is_gradient_descent_on_the_mean_loss() -> None:
    clients = people(200)
    weights = MODEL.start()
    for _ in range(3):
        weights = weights - 2.0 * MODEL.gradients(weights, clients).mean(axis=0)

    result = run("non-private", number=200, levels=np.ones(200))

    np.testing.assert_allclose(result.weights, weights, rtol=1e-4, atol=1e-6)


def test_local_steps_are_taken() -> None:
    one, five = (
        run("non-private", local_training=LocalTraining(steps=steps)).weights
        for steps in (1, 5)
    )

    assert not np.allclose(one, five)


def test_seeds_make_it_repeatable() -> None:
    first, again, other = (
        run("apes", rng=np.random.default_rng(seed)).weights for seed in (7, 7, 8)
    )

    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_strict_levels_cost_accuracy() -> None:
    strict, generous = (
        run("apes", levels=np.full(1_500, level)).accuracy[-1] for level in (0.05, 8.0)
    )

    assert strict < generous


def test_everybody_uses_the_smallest_level_where_the_framework_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Floats] = []

    class Watched(PlainVectors):
        __slots__ = ()

        def estimate(self, totals: Floats, levels: Floats) -> Floats:
            seen.append(np.sort(levels))
            return super().estimate(totals, levels)

    for name, smallest in (("ldp-min", True), ("pldp", False)):
        watched = Framework(name, "Watched.", lambda clip, share: Watched(), smallest)
        monkeypatch.setitem(frameworks.FRAMEWORKS, name, watched)

    for name in ("ldp-min", "pldp"):
        run(name, number=50, levels=np.linspace(1.0, 2.0, 50), rounds=1)

    assert set(seen[0].tolist()) == {1.0}
    np.testing.assert_array_equal(seen[1], np.linspace(1.0, 2.0, 50))


def test_nobody_computes_anything_before_the_guarantee_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("Expected no round.")

    monkeypatch.setattr(training, "collect_round", refuse)
    mine = Framework("mine", "Plain.", lambda clip, share: PlainVectors())
    monkeypatch.setitem(frameworks.FRAMEWORKS, "mine", mine)

    with pytest.raises(InvalidInputError, match="got 'mine'"):
        run("mine", guarantee=None)
    with pytest.raises(PopulationError):
        run("apes", number=1, levels=np.ones(1), guarantee=None)


def test_a_guarantee_that_is_known_is_not_computed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = run("apes", rounds=1).guarantee
    monkeypatch.setattr(training, "certify_training", None)

    assert run("apes", rounds=1, guarantee=known).guarantee is known


@pytest.mark.parametrize(
    "change", [{"framework": "unis"}, {"rounds": 2}, {"num_users": 9}, {"delta": 0.5}]
)
def test_a_guarantee_of_another_training_is_refused(change: dict[str, Any]) -> None:
    known = run("apes", rounds=1).guarantee

    with pytest.raises(InvalidInputError, match="guarantee of this training"):
        run("apes", rounds=1, guarantee=replace(known, **change))


def test_progress_is_told() -> None:
    shares: list[float] = []
    told: list[tuple[int, float]] = []

    result = run(
        "pldp",
        on_round=lambda done, accuracy: told.append((done, accuracy)),
        on_share=shares.append,
    )

    assert told == list(enumerate(result.accuracy, start=1))
    assert shares.count(max(shares)) == 3


def test_results_are_plain_values_for_json() -> None:
    for framework in ("one-bit-apes", "non-private"):
        record = run(framework, rounds=1, guarantee=None).to_dict()

        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert record["framework"] == framework
        assert "weights" not in record


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"levels": np.ones(3)}, "one level for each of 1500 clients"),
        ({"levels": np.full(1_500, np.nan)}, "budget"),
        ({"rounds": 0}, "rounds"),
        ({"server_rate": 0.0}, "server_rate"),
        ({"server_rate": float("inf")}, "server_rate"),
        ({"clip": -1.0}, "clip"),
        ({"delta": 0.0}, "delta"),
        ({"share": 0.0}, "share"),
    ],
    ids=["people", "nan", "rounds", "rate", "no rate", "clip", "delta", "share"],
)
def test_settings_that_make_no_sense_are_refused(
    changes: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidInputError, match=expected):
        run("s-apes-threshold", **{"guarantee": None} | changes)


def test_a_framework_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="got 'APES'"):
        run("APES")
