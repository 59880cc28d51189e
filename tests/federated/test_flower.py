"""Flower's path gives what the NumPy core gives, and lets nothing else off the device."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles.frameworks import Mine, PlainNumbers

if importlib.util.find_spec("flwr") is None:
    pytest.skip("Needs the extra federated.", allow_module_level=True)

from shuffledp.accounting.account import account
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.federated.baseline_vectors import LaplaceVectors, OneBitVectors
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.flower_agreement import Agreement
from shuffledp.federated.flower_client import RandomizeUpdate
from shuffledp.federated.flower_server import ShuffledAveraging
from shuffledp.federated.local_guarantee import local_part
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.sparsified_vectors import (
    RandomVectors,
    ThresholdVectors,
    TopVectors,
)
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


def agreed(coordinates: int, framework: Any = None, rounds: int = 2) -> Agreement:
    """What devices and server agree on, for a model of so many weights."""
    chosen = ClipLaplaceVectors(0.5) if framework is None else framework
    return Agreement(TrainingRound(chosen, coordinates), rounds)


RUN = Path(__file__).parents[2] / "examples" / "flower" / "run.py"


@pytest.fixture(autouse=True)
def _task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages name the task that they are sent by; outside a run there is none."""
    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def request(
    weights: NDArray[np.float32],
    message_type: str = MessageType.TRAIN,
    *,
    digest: str | None = None,
) -> Any:
    digest = agreed(weights.size).digest if digest is None else digest
    content = RecordDict(
        {
            "arrays": ArrayRecord([weights]),
            "config": ConfigRecord({"shuffledp-round": digest, "server-round": 1}),
        }
    )
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


def mod(coordinates: int = 3, **changes: Any) -> RandomizeUpdate:
    settings: dict[str, Any] = {
        "rng_of": lambda *_: np.random.default_rng(5),
    } | changes
    return RandomizeUpdate(agreed(coordinates), **settings)


def expected_cells(update: NDArray[np.float32], level: float) -> NDArray[np.uint16]:
    """What a device with the randomness of `mod` sends."""
    cells: NDArray[np.uint16] = (
        agreed(update.size)
        .protocol.randomize(update[None], [level], rng=np.random.default_rng(5))
        .messages[0]
    )
    return cells


def updates_sent(context: Any) -> int:
    record = context.state.config_records.get("shuffledp", {})
    return int(record.get("updates-sent", 0))


def test_only_randomized_cells_and_the_level_leave_the_device() -> None:
    before = np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32)
    after = np.array([0.3, 0.1, -2.0, 0.4], dtype=np.float32)

    reply = mod(4, scale=0.5)(
        request(before), device(privacy_level=2.0), app_that_returns(after)
    )

    assert set(reply.content) == {"messages", "privacy-level", "shuffledp-round"}
    assert dict(reply.content["privacy-level"]) == {"privacy-level": 2.0}
    assert dict(reply.content["shuffledp-round"]) == {
        "shuffledp-round": agreed(4).digest
    }
    cells = sent(reply)
    expected = expected_cells((before - after) / np.float32(0.5), 2.0)
    assert cells.dtype == np.uint16
    np.testing.assert_array_equal(cells, expected)


def test_randomness_comes_from_the_system_unless_told_otherwise() -> None:
    weights = np.zeros(200, dtype=np.float32)
    private = RandomizeUpdate(agreed(200))
    context = device(privacy_level=1.0)

    first, second = (
        private(request(weights), context, app_that_returns(weights)) for _ in range(2)
    )

    # 200 messages agree by chance with a chance of less than 1 in 1000^200.
    assert not np.array_equal(sent(first), sent(second))


def app_that_raises(message: Any, context: Any) -> Any:
    raise ValueError("diagnosis: influenza")


def app_that_exits(message: Any, context: Any) -> Any:
    sys.exit("diagnosis: influenza")


def app_that_fails(message: Any, context: Any) -> Any:
    return Message(Error(0, "diagnosis: influenza"), reply_to=message)


def app_that_warns_of_overflow(message: Any, context: Any) -> Any:
    weights = np.full(3, 3e38, dtype=np.float32) * np.float32(10.0)
    return app_that_returns(weights)(message, context)


def app_that_forgets(message: Any, context: Any) -> Any:
    del context.state["shuffledp"]
    return app_that_returns(np.zeros(3, np.float32))(message, context)


ZEROS = np.zeros(3, dtype=np.float32)
TRAININGS: dict[str, Callable[[Any, Any], Any]] = {
    "fine": app_that_returns(np.array([0.1, -0.2, 9.0], np.float32)),
    "overflow in part": app_that_returns(np.array([0.1, np.inf, np.nan], np.float32)),
    "overflow of the difference": app_that_returns(np.full(3, -3.4e38, np.float32)),
    "overflow with a warning": app_that_warns_of_overflow,
    "another shape": app_that_returns(np.zeros(4, np.float32)),
    "another type": app_that_returns(np.zeros(3, np.float64)),
    "exception": app_that_raises,
    "exit": app_that_exits,
    "error": app_that_fails,
    "no arrays": lambda message, _: Message(RecordDict(), reply_to=message),
    "no message": lambda *_: None,
    "forgotten diary": app_that_forgets,
}


@pytest.mark.parametrize("name", TRAININGS)
def test_the_reply_is_of_the_same_kind_whatever_becomes_of_the_data(name: str) -> None:
    context = device(privacy_level=1.0)
    private = mod(scale=0.5)

    replies = [private(request(ZEROS), context, TRAININGS[name]) for _ in range(3)]

    assert [reply.has_error() for reply in replies] == [False, False, True]
    for reply in replies[:2]:
        assert set(reply.content) == {"messages", "privacy-level", "shuffledp-round"}
        assert dict(reply.content["privacy-level"]) == {"privacy-level": 1.0}
        assert list(reply.content["messages"]) == ["messages"]
        assert sent(reply).dtype == np.uint16
        assert sent(reply).shape == (3,)
        assert "influenza" not in repr(reply)
    assert updates_sent(context) == 2


@pytest.mark.parametrize(
    ("name", "update"),
    [
        ("overflow in part", [-0.1, 0.0, 0.0]),
        ("overflow with a warning", [0.0, 0.0, 0.0]),
        ("another shape", [0.0, 0.0, 0.0]),
        ("exception", [0.0, 0.0, 0.0]),
    ],
)
def test_zeros_are_randomized_where_there_is_no_finite_update(
    name: str, update: list[float]
) -> None:
    reply = mod()(request(ZEROS), device(privacy_level=3.0), TRAININGS[name])

    expected = expected_cells(np.array(update, np.float32), 3.0)
    np.testing.assert_array_equal(sent(reply), expected)


def test_every_look_at_the_data_counts_before_it_happens() -> None:
    seen = []

    def app(message: Any, context: Any) -> Any:
        seen.append(updates_sent(context))
        raise ValueError

    context = device(privacy_level=1.0)
    for _ in range(3):
        mod()(request(ZEROS), context, app)

    assert seen == [1, 2]


def test_text_of_an_exception_stays_on_the_device(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reply = mod()(request(ZEROS), device(privacy_level=1.0), app_that_raises)

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
        ([0.0, -1.1e6], 1.0, "train"),
        ([0.0, 3.4e38], 1.0, "train"),
        ([0.0, 0.0], 1.0, "evaluate"),
        ([0.0, 0.0], 1.0, "query.anything"),
    ],
)
def test_a_request_is_refused_before_anybody_looks_at_the_data(
    weights: list[float], level: float | None, message_type: str
) -> None:
    looked: list[int] = []

    def app(message: Any, context: Any) -> Any:
        looked.append(1)

    context = device() if level is None else device(privacy_level=level)
    asked = request(np.array(weights, np.float32), message_type)

    reply = mod(2)(asked, context, app)

    assert reply.has_error()
    assert not reply.has_content()
    assert not looked
    assert updates_sent(context) == 0


def test_a_server_that_makes_training_overflow_learns_nothing_from_the_answer() -> None:
    """An attack that once read a pixel: one granted round, and errors for free."""

    def app_of(pixel: float) -> Callable[[Any, Any], Any]:
        def app(message: Any, context: Any) -> Any:
            (weights,) = message.content["arrays"].to_numpy_ndarrays()
            with np.errstate(all="ignore"):
                score = np.float32(pixel) * weights[0] + weights[1]
            if not np.isfinite(score):
                raise OverflowError
            return app_that_returns(weights)(message, context)

        return app

    answers = []
    for pixel in (0.1, 0.9):
        context = device(privacy_level=1.0)
        answers.append(
            [
                mod(2)(
                    request(np.array([size, size], np.float32)), context, app_of(pixel)
                ).has_error()
                for size in (3e38, 2e38, 1e6, 1e6, 1e6)
            ]
        )

    assert answers == [[True, True, False, False, True]] * 2


def test_a_device_gives_away_no_more_updates_than_agreed() -> None:
    weights = np.zeros(3, dtype=np.float32)
    context, private = device(privacy_level=1.0), mod()

    replies = [
        private(request(weights), context, app_that_returns(weights)) for _ in range(3)
    ]

    assert [reply.has_error() for reply in replies] == [False, False, True]


def replies_to(
    cells: NDArray[Any],
    levels: NDArray[np.float64],
    *,
    asked: Any,
    digest: str = "",
) -> list[Any]:
    records: list[dict[str, Any]] = [
        {
            "messages": ArrayRecord({"messages": Array(row)}),
            "privacy-level": MetricRecord({"privacy-level": float(level)}),
            "shuffledp-round": ConfigRecord(
                {"shuffledp-round": digest or agreed(row.size).digest}
            ),
        }
        for row, level in zip(cells, levels, strict=True)
    ]
    return [Message(RecordDict(record), reply_to=asked) for record in records]


class NineDevices:
    """The part of Flower's Grid that a strategy asks who is there."""

    def get_node_ids(self) -> list[int]:
        return list(range(1, 10))


def strategy(
    promised: dict[float, int],
    *,
    coordinates: int = 2,
    **changes: Any,
) -> ShuffledAveraging:
    settings: dict[str, Any] = {
        "agreement": agreed(coordinates),
        "delta": 1e-3,
        "server_rate": 0.5,
    } | changes
    return ShuffledAveraging(promised=promised, **settings)


def sent(reply: Any) -> NDArray[np.uint16]:
    cells: NDArray[np.uint16] = reply.content["messages"]["messages"].numpy()
    return cells


def one_round(server: ShuffledAveraging, replies: list[Any], *, model: Any) -> Any:
    devices: Any = NineDevices()
    assert len(list(server.configure_train(1, model, ConfigRecord(), devices))) == 9
    return server.aggregate_train(1, replies)


@pytest.mark.slow
def test_flower_and_numpy_make_the_same_model_of_the_same_messages() -> None:
    rng = np.random.default_rng(11)
    levels = rng.choice([1.0, 4.0], 40)
    weights = rng.normal(size=10).astype(np.float32)
    updates = rng.normal(0.0, 0.3, (40, 10)).astype(np.float32)
    protocol = agreed(10).protocol
    cells = protocol.randomize(updates, levels, rng=rng).messages
    order = rng.permutation(40)
    model = ArrayRecord([weights])

    arrays, metrics = one_round(
        strategy({1.0: 2, 4.0: 1}, coordinates=10),
        replies_to(cells[order], levels[order], asked=request(weights)),
        model=model,
    )

    totals = cells.sum(axis=0, dtype=np.int64).astype(np.float64)
    people = Population.from_budgets(levels)
    expected = weights - 0.5 * protocol.framework.estimate(totals, people)
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
        strategy({1.0: 3}, coordinates=10),
        replies_to(cells, levels, asked=asked),
        model=model,
    )

    totals = cells.sum(axis=0).astype(np.float64)
    people = Population.from_budgets(levels)
    step = 0.5 * agreed(10).protocol.framework.estimate(totals, people)
    assert list(arrays) == list(parts)
    for name, moved in zip(
        parts, (step[:6].reshape(2, 3), step[6:9], step[9]), strict=True
    ):
        # The model is in single precision.
        np.testing.assert_allclose(arrays[name].numpy(), parts[name] - moved, atol=1e-6)


@pytest.mark.slow
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
        *replies_to(np.array([[7, 9]], np.uint16), np.array([1.5]), asked=asked),
        *replies_to(
            np.array([[7, 9]], np.uint16), np.ones(1), asked=asked, digest="0" * 64
        ),
    ]
    model = ArrayRecord([np.zeros(2, np.float32)])

    alone, _ = one_round(strategy({1.0: 3}), good, model=model)
    mixed, metrics = one_round(strategy({1.0: 3}), [*bad, *good], model=model)

    np.testing.assert_array_equal(*(a.to_numpy_ndarrays()[0] for a in (alone, mixed)))
    assert (metrics["people"], metrics["refused"]) == (3, 9)


MODEL = ArrayRecord([np.zeros(2, np.float32)])


def valid(levels: list[float]) -> list[Any]:
    cells = np.full((len(levels), 2), 2048, np.uint16)
    return replies_to(cells, np.array(levels), asked=request(np.zeros(2, np.float32)))


@pytest.mark.parametrize(
    ("levels", "missing"),
    [
        ([], [1.0, 2.0]),
        ([1.0] * 50, [2.0]),
        ([1.0, 1.0, 2.0], [1.0]),
        ([1.0, 1.0, 1.5, 2.0], [1.0]),
    ],
)
@pytest.mark.slow
def test_nothing_is_released_unless_everybody_promised_is_there(
    levels: list[float], missing: list[float]
) -> None:
    server = strategy({1.0: 3, 2.0: 1})

    arrays, metrics = one_round(server, valid(levels), model=MODEL)

    assert arrays is None
    assert metrics["released"] == 0
    assert metrics["missing-levels"] == missing
    assert metrics["people"] == len(levels) - levels.count(1.5)


def test_invalid_replies_do_not_make_up_the_promised_crowd() -> None:
    (bad,) = replies_to(
        np.array([[7, 5000]], np.uint16),
        np.ones(1),
        asked=request(np.zeros(2, np.float32)),
    )

    arrays, metrics = one_round(
        strategy({1.0: 3}), [*valid([1.0, 1.0]), bad], model=MODEL
    )

    assert arrays is None
    assert (metrics["people"], metrics["refused"]) == (2, 1)


@pytest.mark.slow
def test_the_certificate_is_of_the_promised_crowd_and_all_rounds() -> None:
    promised = {1.0: 3, 2.0: 2}
    server = strategy(promised)
    before = server.guarantee

    rounds = [
        one_round(server, valid(levels), model=MODEL)[1]
        for levels in ([1.0] * 5 + [2.0] * 9, [1.0] * 7)
    ]

    protocol = agreed(2).protocol
    expected = account(protocol, Population.from_counts(promised), delta=1e-3, rounds=2)
    assert before == server.guarantee == expected
    for metrics in rounds:
        assert metrics["certified"] == 1
        assert metrics["levels"] == [1.0, 2.0]
        assert metrics["user-local"] == [
            level.epsilon_all for level in local_part(expected, protocol).levels
        ]
        assert metrics["user-central"] == [
            level.epsilon_central for level in expected.levels
        ]
    assert [metrics["released"] for metrics in rounds] == [1, 0]


def test_after_the_agreed_rounds_nobody_is_asked_and_nothing_released() -> None:
    server, devices = strategy({1.0: 3}), NineDevices()
    one_round(server, [], model=MODEL)
    one_round(server, valid([1.0] * 3), model=MODEL)

    asked = list(server.configure_train(3, MODEL, ConfigRecord(), devices))  # type: ignore[arg-type]
    arrays, metrics = server.aggregate_train(3, valid([1.0] * 3))

    assert asked == []
    assert arrays is None
    assert metrics is not None
    assert (metrics["released"], metrics["refused"]) == (0, 3)


def test_replies_to_one_request_are_released_only_once() -> None:
    server = strategy({1.0: 3})
    first, _ = one_round(server, valid([1.0] * 3), model=MODEL)

    again, _ = server.aggregate_train(1, valid([1.0] * 3))

    assert first is not None
    assert again is None


def test_a_round_of_nothing_but_noise_is_skipped() -> None:
    server = strategy({0.0: 3})

    arrays, metrics = one_round(server, valid([0.0] * 3), model=MODEL)

    assert arrays is None
    assert (metrics["people"], metrics["released"]) == (3, 0)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("framework", "cells", "beyond"),
    [
        (ClipLaplaceVectors(0.5), [0, 4095], 4096),
        (OneBitVectors(0.5), [0, 1], 2),
        (ThresholdVectors(0.5, 0.3), [0, 4095], 4096),
        (RandomVectors(0.5, 0.3), [0, 4095], 4096),
        (LaplaceVectors(0.5), [-(2**30), 2**30], 2**30 + 1),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_messages_and_certificate_are_of_one_round(
    framework: Any, cells: list[int], beyond: int
) -> None:
    agreement = agreed(2, framework, rounds=1)
    asked = request(np.zeros(2, np.float32), digest=agreement.digest)
    kind = agreement.protocol.message_type
    rows = np.array([cells] * 3 + [[0, beyond]], kind)

    server = strategy({1.0: 3}, agreement=agreement)
    arrays, metrics = one_round(
        server,
        replies_to(rows, np.ones(4), asked=asked, digest=agreement.digest),
        model=MODEL,
    )
    reply = RandomizeUpdate(agreement)(
        asked, device(privacy_level=1.0), app_that_returns(np.zeros(2, np.float32))
    )

    assert sent(reply).dtype == kind
    assert server.guarantee.protocol == agreement.protocol.identity
    assert arrays is not None
    assert (metrics["people"], metrics["refused"]) == (3, 1)


def test_a_request_names_the_round_that_was_agreed_on() -> None:
    server, devices = strategy({1.0: 3}), NineDevices()

    asked = list(server.configure_train(1, MODEL, ConfigRecord(), devices))  # type: ignore[arg-type]

    assert len(asked) == 9
    for message in asked:
        config = message.content.config_records["config"]
        assert config["shuffledp-round"] == agreed(2).digest
        reply = mod(2)(
            message,
            device(privacy_level=1.0),
            app_that_returns(np.zeros(2, np.float32)),
        )
        assert not reply.has_error()


@pytest.mark.parametrize(
    "digest",
    ["", "0" * 64, agreed(3).digest, agreed(2, ClipLaplaceVectors(0.4)).digest],
)
def test_a_request_for_another_round_is_refused_unseen(digest: str) -> None:
    looked: list[int] = []
    context = device(privacy_level=1.0)

    def app(message: Any, context: Any) -> Any:
        looked.append(1)

    reply = mod(2)(request(np.zeros(2, np.float32), digest=digest), context, app)

    assert reply.has_error()
    assert not looked
    assert updates_sent(context) == 0


def test_a_framework_that_fails_on_an_update_sends_what_zeros_would() -> None:
    class Sensitive(ClipLaplaceVectors):
        """Looks at the data, and fails."""

        __slots__ = ()

        def encode(self, updates: Any, levels: Any, *, rng: Any) -> Any:
            if np.any(updates):
                raise ValueError("diagnosis: influenza")
            return updates

    agreement = agreed(3, Sensitive(0.5))
    private = RandomizeUpdate(agreement, rng_of=lambda *_: np.random.default_rng(5))

    reply = private(
        request(ZEROS, digest=agreement.digest),
        device(privacy_level=2.0),
        app_that_returns(np.ones(3, np.float32)),
    )

    assert not reply.has_error()
    np.testing.assert_array_equal(sent(reply), expected_cells(ZEROS, 2.0))


@pytest.mark.parametrize("rounds", [np.nan, 2.5, True, 0])
def test_numbers_of_rounds_that_are_none_are_refused(rounds: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        agreed(2, rounds=rounds)


@pytest.mark.parametrize(
    "protocol",
    [
        TrainingRound(TopVectors(0.5, 0.2), 2),
        TrainingRound(LaplaceVectors(0.5), 2, shuffled=False),
        TrainingRound(Mine(PlainNumbers()), 2),
        ClipLaplaceVectors(0.5),
        "apes",
    ],
    ids=["coupled", "not shuffled", "no cover", "no round", "a name"],
)
def test_only_what_can_be_certified_is_agreed_on(protocol: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected a"):
        Agreement(protocol, rounds=2)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("promised", "changes"),
    [
        ({1.0: 2.5}, {}),
        ({1.0: np.nan}, {}),
        ({1.0: True}, {}),
        ({np.nan: 3}, {}),
        ({1.0: 3}, {"delta": 0.0}),
        ({1.0: 3}, {"server_rate": np.inf}),
        ({1.0: 3}, {"agreement": ClipLaplaceVectors(0.5)}),
        # Only the certificate tells that they are too many: one that is soon made.
        (
            {1.0 + level / 100: 1 for level in range(33)},
            {"agreement": agreed(1, OneBitVectors(0.5), rounds=1)},
        ),
    ],
)
def test_a_strategy_refuses_what_it_cannot_keep(
    promised: dict[float, Any], changes: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        strategy(promised, **changes)


def test_a_single_person_cannot_be_promised_a_crowd() -> None:
    with pytest.raises(PopulationError):
        strategy({1.0: 1})


def test_a_model_of_another_size_than_certified_is_not_trained() -> None:
    devices: Any = NineDevices()

    with pytest.raises(InvalidInputError, match="Expected 3 weights, got 2"):
        strategy({1.0: 3}, coordinates=3).configure_train(
            1, MODEL, ConfigRecord(), devices
        )


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, True])
def test_a_mod_refuses_a_scale_that_is_none(scale: float) -> None:
    with pytest.raises(InvalidInputError, match="scale"):
        mod(scale=scale)


def test_the_example_says_what_to_install_where_flower_is_missing(
    tmp_path: Path,
) -> None:
    (tmp_path / "flwr.py").write_text("raise ImportError('not installed')\n")

    finished = subprocess.run(
        [sys.executable, RUN],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert finished.returncode == 2
    assert "install shuffledp[federated]" in finished.stderr
    assert len(finished.stderr.splitlines()) == 1


@pytest.mark.few_cases(0)
@pytest.mark.slow
def test_the_example_makes_the_same_model_as_numpy() -> None:
    for module in ("ray", "sklearn"):
        # A folder of that name on the path is found, too, but comes from no file.
        if getattr(importlib.util.find_spec(module), "origin", None) is None:
            pytest.skip(f"Needs {module}, of the extra federated.")
    environment = {k: v for k, v in os.environ.items() if k != "SHUFFLEDP_DATA"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
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
