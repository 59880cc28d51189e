"""Softmax regression and local training, against differences of the loss itself."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.federated.clients import Clients
from shuffledp.federated.local_training import LocalTraining
from shuffledp.federated.softmax import SoftmaxRegression

MODEL = SoftmaxRegression(num_features=4, num_classes=3)


def some_clients(seed: int, people: int = 5, each: int = 2) -> Clients:
    rng = np.random.default_rng(seed)
    features = rng.random((people, each, 4)).astype(np.float32)
    return Clients(features, rng.integers(3, size=(people, each)))


def some_weights(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(*shape, 15)).astype(np.float32)


def loss(weights: np.ndarray, clients: Clients, person: int) -> float:
    """The mean cross-entropy of one person, in double precision, example by example."""
    matrix = weights.astype(np.float64).reshape(5, 3)
    losses = []
    for x, y in zip(clients.features[person], clients.labels[person], strict=True):
        scores = np.append(x.astype(np.float64), 1.0) @ matrix
        losses.append(np.log(np.sum(np.exp(scores))) - scores[y])
    return float(np.mean(losses))


def differences(weights: np.ndarray, clients: Clients, person: int) -> np.ndarray:
    steps = 1e-5 * np.eye(len(weights))
    weights = weights.astype(np.float64)
    return np.array(
        [
            (
                loss(weights + step, clients, person)
                - loss(weights - step, clients, person)
            )
            / 2e-5
            for step in steps
        ]
    )


def test_gradients_are_the_slopes_of_everybodys_loss() -> None:
    clients, weights = some_clients(1), some_weights(1)

    gradients = MODEL.gradients(weights, clients)

    expected = [differences(weights, clients, person) for person in range(5)]
    # Single precision of numbers up to 1.
    np.testing.assert_allclose(gradients, expected, atol=2e-6)
    assert gradients.dtype == np.float32


def test_everybody_may_have_weights_of_her_own() -> None:
    clients, weights = some_clients(2), some_weights(2, 5)

    gradients = MODEL.gradients(weights, clients)

    expected = [differences(weights[i], clients, i) for i in range(5)]
    np.testing.assert_allclose(gradients, expected, atol=2e-6)


def test_large_scores_do_not_overflow() -> None:
    clients, weights = some_clients(3), 1e4 * some_weights(3)

    gradients = MODEL.gradients(weights.astype(np.float32), clients)

    assert np.all(np.abs(gradients) <= 1.0)


def test_people_do_not_depend_on_the_slice_they_are_in() -> None:
    clients, weights = some_clients(4), some_weights(4)

    parts = [MODEL.gradients(weights, clients[i : i + 1]) for i in range(5)]

    np.testing.assert_allclose(
        np.vstack(parts), MODEL.gradients(weights, clients), atol=1e-6
    )


def test_accuracy_is_the_share_of_right_answers() -> None:
    weights = np.zeros(15, dtype=np.float32)
    weights[[0, 4, 8]] = 1.0
    features = np.eye(4, dtype=np.float32)[:3]

    accuracy = MODEL.accuracy(weights, features, np.array([0, 1, 0]))

    assert accuracy == 2 / 3


def test_a_mnist_model_has_7850_weights() -> None:
    assert SoftmaxRegression(784).num_parameters == 7850
    assert SoftmaxRegression(784).start().shape == (7850,)


def test_one_local_step_reports_the_gradient_itself() -> None:
    clients, weights = some_clients(5), some_weights(5)

    updates = LocalTraining(steps=1, proximal=3.0).updates(MODEL, weights, clients)

    np.testing.assert_array_equal(updates, MODEL.gradients(weights, clients))


def test_local_steps_descend_with_a_pull_towards_the_start() -> None:
    clients, start = some_clients(6), some_weights(6)
    training = LocalTraining(steps=4, learning_rate=0.3, proximal=0.7)

    updates = training.updates(MODEL, start, clients)

    for person in range(5):
        weights = start.astype(np.float64)
        for _ in range(4):
            slope = differences(weights, clients, person) + 0.7 * (weights - start)
            weights = weights - 0.3 * slope
        np.testing.assert_allclose(
            updates[person], (start - weights) / (4 * 0.3), atol=5e-6
        )


@dataclass(frozen=True)
class StepByStep:
    """The same model without its faster way."""

    def gradients(
        self, weights: NDArray[np.float32], clients: Clients
    ) -> NDArray[np.float32]:
        return MODEL.gradients(weights, clients)


@pytest.mark.parametrize("proximal", [0.0, 0.7])
def test_the_faster_way_ends_where_single_steps_do(proximal: float) -> None:
    clients, start = some_clients(8), some_weights(8)
    training = LocalTraining(steps=6, learning_rate=0.4, proximal=proximal)

    fast = training.updates(MODEL, start, clients)

    # Single precision: seven digits, of which sums of six steps keep all but one.
    single = training.updates(StepByStep(), start, clients)
    np.testing.assert_allclose(fast, single, atol=2e-6)
    assert np.abs(fast - MODEL.gradients(start, clients)).max() > 1e-3


def test_training_without_privacy_learns() -> None:
    rng = np.random.default_rng(7)
    labels = rng.integers(3, size=(40, 5))
    noise = 0.2 * rng.random((40, 5, 4))
    features = (0.8 * np.eye(4)[labels] + noise).astype(np.float32)
    clients, weights = Clients(features, labels), MODEL.start()

    for _ in range(20):
        weights -= LocalTraining(5, 0.5).updates(MODEL, weights, clients).mean(axis=0)

    assert MODEL.accuracy(weights, features.reshape(-1, 4), labels.ravel()) == 1.0


@pytest.mark.parametrize("shape", [(14,), (4, 15), (5, 14)])
def test_weights_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match="shape"):
        MODEL.gradients(np.zeros(shape, dtype=np.float32), some_clients(8))


def test_labels_and_features_of_another_model_are_refused() -> None:
    clients = some_clients(9)

    with pytest.raises(InvalidInputError, match="labels"):
        SoftmaxRegression(4, 2).gradients(np.zeros(10, dtype=np.float32), clients)
    with pytest.raises(InvalidInputError, match="features"):
        SoftmaxRegression(3, 3).gradients(np.zeros(12, dtype=np.float32), clients)


@pytest.mark.parametrize(
    "setting",
    [
        {"steps": 0},
        {"steps": 2.5},
        {"steps": float("nan")},
        {"steps": True},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"proximal": -1.0},
        {"proximal": float("inf")},
    ],
    ids=str,
)
def test_local_training_that_cannot_be_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        LocalTraining(**setting)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "training",
    [
        LocalTraining(steps=3, proximal=1e300),
        LocalTraining(steps=3, learning_rate=1e300),
        LocalTraining(steps=30, learning_rate=1.0, proximal=1e3),
    ],
    ids=["proximal", "rate", "slowly"],
)
def test_local_training_that_diverges_says_so_and_nothing_else(
    training: LocalTraining,
) -> None:
    # Warnings are errors here: none may come before.
    with pytest.raises(InvalidInputError, match="diverged"):
        training.updates(MODEL, some_weights(10), some_clients(10))


@pytest.mark.parametrize("size", [np.inf, 3e38])
def test_weights_of_rounds_that_diverged_are_refused(size: float) -> None:
    # The sums of every class overflow, and their differences are no numbers.
    weights = np.full_like(some_weights(11), size)

    with pytest.raises(InvalidInputError, match="diverged"):
        LocalTraining().updates(MODEL, weights, some_clients(11))
