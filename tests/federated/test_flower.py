"""Flower's path gives what the NumPy core gives, and lets nothing else off the device."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

if importlib.util.find_spec("flwr") is None:
    pytest.skip("flwr is not installed", allow_module_level=True)

from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.flower_client import RandomizeUpdate
from shuffledp.federated.flower_server import ShuffledAveraging
from shuffledp.federated.guarantees import TrainingGuarantee, certify_training
from shuffledp.population import Population

# After the modules above, which import Flower without its dependencies' warnings.
from flwr.app import (  # isort: skip
    Array,
    ArrayRecord,
    ConfigRecord,
    Context,
    Error,
    Message,
    MessageType,
    MetricRecord,
    RecordDict,
)

from flwr.supercore.task_identity import TaskIdentity  # isort: skip

RANDOMIZER = ClipLaplaceVectors(0.5)
RUN = Path(__file__).parents[2] / "examples" / "flower" / "run.py"


@pytest.fixture(autouse=True)
def _task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages name the task that they are sent by; outside a run there is none."""
    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def request(weights: NDArray[np.float32], message_type: str = MessageType.TRAIN) -> Any:
    content = RecordDict({"arrays": ArrayRecord([weights])})
    return Message(content, dst_node_id=7, message_type=message_type)


def device(**settings: float) -> Any:
    return Context(
        1,
        7,
        {name.replace("_", "-"): settings[name] for name in settings},
        RecordDict(),
        {},
    )


def app_that_returns(weights: NDArray[np.float32]) -> Callable[[Any, Any], Any]:
    def app(message: Any, context: Any) -> Any:
        del context
        records: dict[str, Any] = {
            "arrays": ArrayRecord([weights]),
            "metrics": MetricRecord({"num-examples": 3, "loss": 0.7}),
        }
        return Message(RecordDict(records), reply_to=message)

    return app


def mod(**changes: Any) -> RandomizeUpdate:
    settings: dict[str, Any] = {
        "rounds": 2,
        "rng_of": lambda *_: np.random.default_rng(5),
    } | changes
    return RandomizeUpdate(RANDOMIZER, **settings)


def test_only_randomized_cells_and_the_level_leave_the_device() -> None:
    before = np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32)
    after = np.array([0.3, 0.1, -2.0, 0.4], dtype=np.float32)

    reply = mod(scale=0.5)(
        request(before), device(privacy_level=2.0), app_that_returns(after)
    )

    assert set(reply.content) == {"cells", "privacy-level"}
    assert dict(reply.content["privacy-level"]) == {"privacy-level": 2.0}
    cells = sent(reply)
    expected = RANDOMIZER.randomize(
        (before - after)[None] / np.float32(0.5),
        np.array([2.0]),
        rng=np.random.default_rng(5),
    )
    assert cells.dtype == np.uint16
    np.testing.assert_array_equal(cells, expected[0])


def test_randomness_comes_from_the_system_unless_told_otherwise() -> None:
    weights = np.zeros(200, dtype=np.float32)
    private = RandomizeUpdate(RANDOMIZER, rounds=2)
    context = device(privacy_level=1.0)

    first, second = (
        private(request(weights), context, app_that_returns(weights)) for _ in range(2)
    )

    # 200 messages agree by chance with a chance of less than 1 in 1000^200.
    assert not np.array_equal(sent(first), sent(second))


def test_text_of_an_exception_stays_on_the_device(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def app(message: Any, context: Any) -> Any:
        raise ValueError("diagnosis: influenza")

    reply = mod()(request(np.zeros(4, np.float32)), device(privacy_level=1.0), app)

    assert reply.has_error()
    assert "influenza" not in repr(reply)
    assert "influenza" in caplog.text


@pytest.mark.parametrize(
    ("weights", "level", "message_type"),
    [
        ([0.0, 0.0], None, "train"),
        ([0.0, 0.0], -1.0, "train"),
        ([0.0, 0.0], np.nan, "train"),
        ([0.0, 0.0], True, "train"),
        ([0.0, np.nan], 1.0, "train"),
        ([0.0, np.inf], 1.0, "train"),
        ([0.0, 0.0, 0.0], 1.0, "train"),
        ([0.0, 0.0], 1.0, "evaluate"),
        ([0.0, 0.0], 1.0, "query.anything"),
    ],
)
def test_nothing_is_sent_where_something_is_wrong(
    weights: list[float], level: float | None, message_type: str
) -> None:
    context = device() if level is None else device(privacy_level=level)
    asked = request(np.zeros(2, dtype=np.float32), message_type)

    reply = mod()(asked, context, app_that_returns(np.array(weights, np.float32)))

    assert reply.has_error()
    assert not reply.has_content()


def test_a_device_gives_away_no_more_updates_than_agreed() -> None:
    weights = np.zeros(3, dtype=np.float32)
    context, private = device(privacy_level=1.0), mod(rounds=2)

    replies = [
        private(request(weights), context, app_that_returns(weights)) for _ in range(3)
    ]

    assert [reply.has_error() for reply in replies] == [False, False, True]


def replies_to(
    cells: NDArray[np.uint16], levels: NDArray[np.float64], *, asked: Any
) -> list[Any]:
    records: list[dict[str, Any]] = [
        {
            "cells": ArrayRecord({"cells": Array(row)}),
            "privacy-level": MetricRecord({"privacy-level": float(level)}),
        }
        for row, level in zip(cells, levels, strict=True)
    ]
    return [Message(RecordDict(record), reply_to=asked) for record in records]


class ThreeDevices:
    """The part of Flower's Grid that a strategy asks who is there."""

    def get_node_ids(self) -> list[int]:
        return [1, 2, 3]


class Notebook:
    """Notes what a strategy wants certified."""

    def __init__(self) -> None:
        self.asked: list[tuple[dict[float, int], int, int]] = []

    def __call__(self, people: Population, *, coordinates: int, rounds: int) -> Any:
        counts = dict(
            zip(people.epsilons.tolist(), people.counts.tolist(), strict=True)
        )
        self.asked.append((counts, coordinates, rounds))
        return TrainingGuarantee(
            framework="apes",
            num_users=people.num_users,
            coordinates=coordinates,
            rounds=rounds,
            delta=1e-3,
            levels=(),
            certified=True,
            note="",
        )


def strategy(certify: Any) -> ShuffledAveraging:
    return ShuffledAveraging(RANDOMIZER, certify, server_rate=0.5, min_clients=3)


def sent(reply: Any) -> NDArray[np.uint16]:
    cells: NDArray[np.uint16] = reply.content["cells"]["cells"].numpy()
    return cells


def one_round(server: ShuffledAveraging, replies: list[Any], *, model: Any) -> Any:
    devices: Any = ThreeDevices()
    assert len(list(server.configure_train(1, model, ConfigRecord(), devices))) == 3
    return server.aggregate_train(1, replies)


def test_flower_and_numpy_make_the_same_model_of_the_same_messages() -> None:
    rng = np.random.default_rng(11)
    levels = rng.choice([1.0, 4.0], 40)
    weights = rng.normal(size=10).astype(np.float32)
    updates = rng.normal(0.0, 0.3, (40, 10)).astype(np.float32)
    cells = RANDOMIZER.randomize(updates, levels, rng=rng)
    order = rng.permutation(40)
    model = ArrayRecord([weights])

    arrays, metrics = one_round(
        strategy(Notebook()),
        replies_to(cells[order], levels[order], asked=request(weights)),
        model=model,
    )

    totals = cells.sum(axis=0, dtype=np.int64).astype(np.float64)
    expected = weights - 0.5 * RANDOMIZER.estimate(totals, levels)
    np.testing.assert_array_equal(
        arrays.to_numpy_ndarrays()[0], expected.astype(np.float32)
    )
    assert metrics["people"] == 40
    assert metrics["refused"] == 0


def test_arrays_of_a_model_keep_their_names_and_shapes() -> None:
    rng = np.random.default_rng(12)
    parts = {
        "matrix": rng.random((2, 3)),
        "bias": rng.random(3),
        "scale": rng.random(()),
    }
    model = ArrayRecord(
        {name: Array(np.asarray(part, np.float32)) for name, part in parts.items()}
    )
    cells = rng.integers(0, 4096, (3, 10)).astype(np.uint16)
    levels = np.array([1.0, 1.0, 1.0])
    asked = request(np.zeros(10, np.float32))

    arrays, _ = one_round(
        strategy(Notebook()), replies_to(cells, levels, asked=asked), model=model
    )

    step = 0.5 * RANDOMIZER.estimate(cells.sum(axis=0).astype(np.float64), levels)
    assert list(arrays) == list(parts)
    for name, moved in zip(
        parts, (step[:6].reshape(2, 3), step[6:9], step[9]), strict=True
    ):
        # The model is in single precision.
        np.testing.assert_allclose(arrays[name].numpy(), parts[name] - moved, atol=1e-6)


def test_replies_of_another_form_count_as_none() -> None:
    asked = request(np.zeros(2, np.float32))
    good = replies_to(np.array([[7, 9]] * 3, np.uint16), np.ones(3), asked=asked)
    bad = [
        Message(Error(0, "out of battery"), reply_to=asked),
        Message(RecordDict(), reply_to=asked),
        *replies_to(np.array([[7, 9, 9]], np.uint16), np.ones(1), asked=asked),
        *replies_to(np.array([[7, 4096]], np.uint16), np.ones(1), asked=asked),
        *replies_to(np.array([[7.0, 9.0]]), np.ones(1), asked=asked),
        *replies_to(np.array([[7, 9]], np.uint16), np.array([-1.0]), asked=asked),
        *replies_to(np.array([[7, 9]], np.uint16), np.array([np.nan]), asked=asked),
    ]
    model = ArrayRecord([np.zeros(2, np.float32)])

    alone, _ = one_round(strategy(Notebook()), good, model=model)
    mixed, metrics = one_round(strategy(Notebook()), [*bad, *good], model=model)

    np.testing.assert_array_equal(*(a.to_numpy_ndarrays()[0] for a in (alone, mixed)))
    assert (metrics["people"], metrics["refused"]) == (3, 7)


def test_without_replies_the_model_stays_and_nothing_is_certified() -> None:
    server, notebook = strategy(notebook := Notebook()), notebook

    arrays, metrics = one_round(
        server, [], model=ArrayRecord([np.zeros(2, np.float32)])
    )

    assert arrays is None
    assert metrics["people"] == 0
    assert server.guarantee is None
    assert not notebook.asked


def test_guarantee_counts_only_people_of_every_round() -> None:
    notebook = Notebook()
    server = strategy(notebook)
    asked = request(np.zeros(2, np.float32))
    model = ArrayRecord([np.zeros(2, np.float32)])

    for levels in (
        [1.0, 1.0, 1.0, 2.0, 3.0],
        [1.0, 1.0, 2.0, 2.0],
        [1.0, 1.0, 1.0, 2.0],
    ):
        cells = np.full((len(levels), 2), 2048, np.uint16)
        replies = replies_to(cells, np.array(levels), asked=asked)
        one_round(server, replies, model=model)

    assert notebook.asked == [
        ({1.0: 3, 2.0: 1, 3.0: 1}, 2, 1),
        ({1.0: 2, 2.0: 1}, 2, 2),
        ({1.0: 2, 2.0: 1}, 2, 3),
    ]


def test_metrics_hold_what_is_certified_after_the_rounds_so_far() -> None:
    certify = partial(certify_training, "apes", clip=0.5, delta=1e-3)
    server = ShuffledAveraging(
        RANDOMIZER, certify, server_rate=0.5, min_clients=3, certify_every=2
    )
    asked = request(np.zeros(2, np.float32))
    replies = replies_to(np.full((9, 2), 2048, np.uint16), np.ones(9), asked=asked)
    model = ArrayRecord([np.zeros(2, np.float32)])

    _, first = one_round(server, replies, model=model)
    _, second = one_round(server, replies, model=model)

    (row,) = certify(Population.from_counts({1.0: 9}), coordinates=2, rounds=2).levels
    assert dict(first) == {"people": 9, "refused": 0}
    assert dict(second) == dict(first) | {
        "certified": 1,
        "levels": [1.0],
        "user-local": [row.user_local_certified],
        "user-central": [row.user_central],
    }


def test_the_example_makes_the_same_model_as_numpy() -> None:
    for module in ("ray", "sklearn"):
        # A folder of that name on the path is found, too, but comes from no file.
        if getattr(importlib.util.find_spec(module), "origin", None) is None:
            pytest.skip(f"{module} is not installed")
    environment = {k: v for k, v in os.environ.items() if k != "SHUFFLEDP_DATA"}
    environment["ROUNDS"] = "2"

    finished = subprocess.run(
        [sys.executable, RUN],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )

    accuracies = [
        float(line.split()[-1])
        for line in finished.stdout.splitlines()
        if "accuracy" in line
    ]
    assert accuracies[2] > 0.6
    assert "arrives at the same model" in finished.stdout
