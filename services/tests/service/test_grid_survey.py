"""Means on a grid behind the services: what runs is certified, and reports are alike."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyst_parties import Service, crowd_levels, serve
from analyst_parties import parties as analyst_parties
from service_parties import LEVELS, parties, question

from shuffledp import GridResponse, Mean, OneBit, Population, SystemRandom, account
from shuffledp.errors import InvalidInputError, ShuffledpError
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.mean.survey import MeanSurvey
from shuffledp.statistics.survey import Offer, terms_of
from shuffledp.types import Mode
from shuffledp_services.collection.batch_verdict import assess_batch
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task
from shuffledp_services.wire.upload_format import report_size, write_reports

K = 12
MODES: tuple[Mode, ...] = ("agnostic", "stratified")
both_modes = pytest.mark.parametrize("mode", MODES)


def asked(mode: Mode = "agnostic", **more: Any) -> Question:
    grid: dict[str, Any] = {"mechanism": "grid-response", "values": K}
    return question("mean", mode, **(grid | more))


def protocol(mode: Mode) -> Mean:
    return Mean(0.0, 10.0, mode, GridResponse(0.0, 10.0, num_values=K))


@pytest.mark.slow
@both_modes
def test_what_is_published_is_what_one_process_estimates_of_the_same_messages(
    mode: Mode, tmp_path: Path
) -> None:
    who = analyst_parties(question=asked(mode))
    step, levels = Step(read_task(who.task.to_json()), 1), crowd_levels()
    values = np.random.default_rng(1).uniform(0.0, 10.0, levels.size)
    sent = step.run.randomize(values, levels, rng=np.random.default_rng(2))

    async def scenario(service: Service) -> dict[str, Any]:
        await service.post(who.batch(step, sent, levels))
        await service.counted()
        result: dict[str, Any] = (await service.result()).json()
        return result

    result = serve(tmp_path, who, scenario)

    mean, people = protocol(mode), Population.from_budgets(levels)
    drawn = mean.randomize(values, levels, rng=np.random.default_rng(2))
    alone = mean.estimate(shuffle(drawn, rng=np.random.default_rng(3)), people)
    (row,) = result["estimate"]["rows"]
    assert row["value"] == alone.value
    assert row["standard_error"] == alone.standard_error
    assert result["protocol_digest"] == mean.identity.digest


@pytest.mark.few_cases(1)
@both_modes
def test_a_batch_is_worth_what_the_accountant_says_of_the_same_object(
    mode: Mode,
) -> None:
    task = parties(question=asked(mode)).task
    people = Population.from_counts(dict(zip(LEVELS, (400, 300, 200), strict=True)))

    verdict = assess_batch(Step(task, 1), (400, 300, 200), spent_before=(0.0, 0.0, 0.0))

    certified = account(protocol(mode), people, delta=1e-3, absent=2, quantiles=False)
    assert verdict.spent == tuple(level.epsilon_central for level in certified.levels)
    assert task.protocol == protocol(mode).identity


@both_modes
def test_reports_have_one_size_whatever_the_level_and_the_answer(mode: Mode) -> None:
    step = Step(parties(question=asked(mode)).task, 1)
    levels, tokens = np.tile(LEVELS, 11), [bytes(32)] * 33

    sizes = set()
    for dummy in (False, True):
        values = np.repeat(np.linspace(0.0, 10.0, 11), 3)
        messages = step.run.randomize(values, levels, rng=SystemRandom())
        reports = seal_reports(step, messages, levels, tokens, dummy=dummy)
        sizes |= {len(write_reports(step, [report])) for report in reports}

    assert sizes == {26 + report_size(step)}


@pytest.mark.parametrize(
    "other", [GridResponse(0, 10, num_values=K + 1), OneBit(0, 10)]
)
def test_a_task_that_certifies_another_mechanism_than_its_question_is_refused(
    other: Any,
) -> None:
    said = parties(question=asked()).task.to_dict()
    record = Mean(0, 10, "agnostic", other).identity.record

    with pytest.raises(ShuffledpError, match="answered by"):
        read_task(canonical({**said, "protocol": record}))


def test_a_question_without_a_mechanism_is_what_it_was() -> None:
    survey, offer = MeanSurvey(0.0, 10.0), Offer(LEVELS, 1e-3, 2)

    assert terms_of(survey) == {"low": 0.0, "high": 10.0}
    assert survey.identity(offer) == Mean(0.0, 10.0).identity
    named = MeanSurvey(0.0, 10.0, "one-bit")
    assert named.identity(offer) == survey.identity(offer)


def test_the_number_of_values_is_always_said() -> None:
    with pytest.raises(InvalidInputError, match="Expected values with grid-response"):
        MeanSurvey(0.0, 10.0, "grid-response")
