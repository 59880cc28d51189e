"""Subset selection and Hadamard response behind the services: what runs is certified."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyst_parties import Parties, Service, crowd_levels, serve
from analyst_parties import parties as analyst_parties
from service_parties import LEVELS, parties, question

from shuffledp.accounting.account import account
from shuffledp.errors import InvalidInputError, ShuffledpError
from shuffledp.population import Population
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.randomness import SystemRandom
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.frequency.survey import MECHANISM, FrequencySurvey
from shuffledp.statistics.survey import Offer
from shuffledp.types import Mode
from shuffledp_services.collection.batch_verdict import assess_batch
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task
from shuffledp_services.wire.upload_format import (
    report_size,
    write_messages,
    write_reports,
)

NAMES = tuple(f"category {n}" for n in range(11))
# What a question says, what then runs, and the bytes of a message of it.
CASES: dict[str, tuple[dict[str, Any], FrequencyOracle, int]] = {
    "kary-response": ({}, KRandomizedResponse(11), 9),
    "subset-selection": ({"subset_size": 3}, SubsetSelection(11, 3), 3),
    "hadamard-response": ({}, HadamardResponse(11), 9),
}
each_mechanism = pytest.mark.parametrize("mechanism", CASES)
# Modes are the same for every mechanism.
several_modes = pytest.mark.parametrize(
    ("mechanism", "mode"),
    [
        ("kary-response", "agnostic"),
        ("hadamard-response", "agnostic"),
        ("subset-selection", "agnostic"),
        ("subset-selection", "stratified"),
    ],
)


def asked(mechanism: str, mode: Mode = "agnostic") -> Question:
    more, _, _ = CASES[mechanism]
    return question("frequency", mode, categories=NAMES, mechanism=mechanism, **more)


def collected(
    folder: Path, who: Parties, step: Step, sent: Any, *, dummies: int = 0
) -> dict[str, Any]:
    """What the analyst publishes of a batch."""

    async def scenario(service: Service) -> dict[str, Any]:
        levels = crowd_levels()
        await service.post(who.batch(step, sent, levels, dummies=dummies))
        await service.counted()
        result: dict[str, Any] = (await service.result()).json()
        return result

    return serve(folder, who, scenario)


@pytest.mark.slow
@several_modes
def test_what_is_published_is_what_one_process_estimates_of_the_same_messages(
    mechanism: str, mode: Mode, tmp_path: Path
) -> None:
    who = analyst_parties(question=asked(mechanism, mode))
    step, levels = Step(read_task(who.task.to_json()), 1), crowd_levels()
    values = np.random.default_rng(1).integers(0, 11, levels.size)
    protocol = Frequency(11, mode, CASES[mechanism][1])

    sent = step.run.randomize(values, levels, rng=np.random.default_rng(2))
    result = collected(tmp_path, who, step, sent)

    drawn = protocol.randomize(values, levels, rng=np.random.default_rng(2))
    people = Population.from_budgets(levels)
    alone = protocol.estimate(shuffle(drawn, rng=np.random.default_rng(3)), people)
    rows = result["estimate"]["rows"]
    assert [row["name"] for row in rows] == list(NAMES)
    assert [row["value"] for row in rows] == alone.value.tolist()
    assert [row["standard_error"] for row in rows] == alone.standard_error.tolist()
    assert result["protocol_digest"] == protocol.identity.digest


@pytest.mark.slow
@several_modes
def test_a_batch_is_worth_what_the_accountant_says_of_the_same_object(
    mechanism: str, mode: Mode
) -> None:
    task = parties(question=asked(mechanism, mode)).task
    protocol = Frequency(11, mode, CASES[mechanism][1])
    people = Population.from_counts(dict(zip(LEVELS, (400, 300, 200), strict=True)))

    verdict = assess_batch(Step(task, 1), (400, 300, 200), spent_before=(0.0, 0.0, 0.0))

    certified = account(protocol, people, delta=1e-3, absent=2, quantiles=False)
    assert verdict.spent == tuple(level.epsilon_central for level in certified.levels)
    assert task.protocol == protocol.identity
    assert Step(task, 1).answer_run.identity == protocol.identity


@several_modes
def test_reports_have_one_size_whatever_the_level_and_the_answer(
    mechanism: str, mode: Mode
) -> None:
    step = Step(parties(question=asked(mechanism, mode)).task, 1)
    levels, tokens = np.tile(LEVELS, 11), [bytes(32)] * 33

    sizes = set()
    for dummy in (False, True):
        values = np.repeat(np.arange(11), 3)
        messages = step.run.randomize(values, levels, rng=SystemRandom())
        reports = seal_reports(step, messages, levels, tokens, dummy=dummy)
        sizes |= {len(write_reports(step, [report])) for report in reports}

    assert step.message_size == CASES[mechanism][2]
    assert sizes == {26 + report_size(step)}
    assert report_size(step) == 34 + CASES[mechanism][2] + 48


def test_sets_that_are_none_of_the_task_are_spoiled_and_the_rest_is_counted() -> None:
    counting = MessageCounter(Step(parties(question=asked("subset-selection")).task, 1))
    run = counting.step.run
    good = write_messages(run.code.pack(np.array([[0, 1, 10], [0, 5, 6]])))
    two, four, beyond = b"\x01\xc0\x00", b"\x01\xf0\x00", b"\x01\xc0\x10"
    short, long, number = b"\x01\xe0", b"\x01\xe0\x00\x00", b"\x01" + bytes(8)
    dummy, odd = b"\x00\xe0\x00", b"\x02\xe0\x00"
    bad: list[bytes | None] = [
        None,
        b"",
        two,
        four,
        beyond,
        short,
        long,
        number,
        dummy,
        odd,
    ]

    counting.add(0, [*good, *bad])

    assert counting.tally is not None
    counts = [2, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1]
    assert counting.tally.counts.tolist() == [[counts]]
    assert counting.spoiled.tolist() == [len(bad)]


@pytest.mark.slow
def test_dummies_of_sets_are_counted_as_absent_people(tmp_path: Path) -> None:
    who = analyst_parties(question=asked("subset-selection"))
    step, levels = Step(who.task, 1), crowd_levels()
    values = np.zeros(levels.size, dtype=np.int64)
    sent = step.run.randomize(values, levels, rng=np.random.default_rng(2))

    result = collected(tmp_path, who, step, sent, dummies=5)

    assert result["spoiled"] == 5
    assert result["estimate"]["num_users"] == levels.size - 5
    assert result["certificate"]["absent"] == 7


def test_columns_past_the_last_one_are_spoiled() -> None:
    counting = MessageCounter(
        Step(parties(question=asked("hadamard-response")).task, 1)
    )

    counting.add(0, [*write_messages(np.array([0, 15, 16, -1]))])

    assert counting.tally is not None
    assert counting.tally.num_users is not None
    assert counting.spoiled.tolist() == [2]


@pytest.mark.parametrize(
    "changes",
    [
        {"mechanism": "local-hashing"},
        {"mechanism": None},
        {"mechanism": ["kary-response"]},
        {"mechanism": "subset-selection"},
        {"mechanism": "subset-selection", "subset_size": 11},
        {"mechanism": "subset-selection", "subset_size": 0},
        {"mechanism": "subset-selection", "subset_size": 2.0},
        {"mechanism": "subset-selection", "subset_size": None},
        {"mechanism": "hadamard-response", "subset_size": 2},
        {"mechanism": "kary-response", "subset_size": None},
    ],
    ids=str,
)
def test_mechanisms_that_cannot_be_built_from_the_question_are_refused(
    changes: dict[str, Any],
) -> None:
    with pytest.raises(InvalidInputError):
        question("frequency", categories=NAMES, **changes)


@each_mechanism
def test_a_task_that_names_another_mechanism_than_its_question_is_refused(
    mechanism: str,
) -> None:
    said = parties(question=asked(mechanism)).task.to_dict()
    for other in CASES:
        if other != mechanism:
            record = Frequency(11, randomizer=CASES[other][1]).identity.record
            text = canonical({**said, "protocol": record})
            with pytest.raises(ShuffledpError, match="answered by"):
                read_task(text)


def test_the_usual_mechanism_is_that_of_the_protocol() -> None:
    survey, offer = FrequencySurvey(NAMES), Offer(LEVELS, 1e-3, 2)

    assert survey.mechanism == MECHANISM.choices[0]
    assert survey.identity(offer) == Frequency(11).identity


@pytest.mark.slow
@pytest.mark.parametrize("num_categories", [3, 8, 100, 1000])
@pytest.mark.parametrize("per_level", [50, 1000])
def test_at_the_same_levels_no_mechanism_is_both_closer_and_as_private_as_the_usual_one(
    num_categories: int, per_level: int
) -> None:
    k, people = num_categories, Population.from_counts(dict.fromkeys(LEVELS, per_level))

    def privacy_and_error(oracle: FrequencyOracle) -> tuple[list[float], float]:
        protocol = Frequency(k, randomizer=oracle)
        certified = account(protocol, people, delta=1e-6, quantiles=False)
        epsilons = [level.epsilon_central for level in certified.levels]
        return epsilons, protocol.predicted_error(people, share=1.0 / k)

    usual, usual_error = privacy_and_error(KRandomizedResponse(k))
    sizes = {max(2, round(k * share)) for share in (0.05, 0.2, 0.4)}
    others: list[FrequencyOracle] = [SubsetSelection(k, size) for size in sizes]
    for oracle in [HadamardResponse(k), *others]:
        epsilons, error = privacy_and_error(oracle)
        private = all(a <= b for a, b in zip(epsilons, usual, strict=True))
        assert not (private and error <= usual_error)
