"""Surveys: services know a statistic through its survey, and nothing else of it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyst_parties import Service, crowd_levels, parties, serve
from service_parties import Enroller

from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.population import Population
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.reports import Reports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.one_message_run import OneMessageRun, no_targets, only_stage
from shuffledp.statistics.stage_runs import ChoiceRun
from shuffledp.statistics.statistic_catalog import SURVEYS, survey_named
from shuffledp.statistics.survey import (
    EpochStage,
    Form,
    Offer,
    Survey,
    survey_in,
    terms_of,
)
from shuffledp.types import Mode
from shuffledp_services.wire import question as wire_question
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task

OFFER = Offer((0.5, 1.0, 2.0), 1e-3, 2)
EVERY: dict[str, dict[str, Any]] = {
    "frequency": {"categories": ["a", "b"], "mechanism": "kary-response"},
    "mean": {"low": -1, "high": 10**18},
    "sum": {},
    "items": {"categories": ["a", "b", "c"], "set_size": 2},
    "counts": {
        "questions": [
            {"text": "Which?", "options": ["a", "b", "c"], "most": 2},
            {"text": "Well?", "options": ["yes", "no"], "most": 1},
        ]
    },
}
STARS = Parameter("stars", "whole number", "How many", least=2, most=10)


@dataclass(frozen=True)
class RatingSurvey:
    """A statistic that this library does not have: how often each rating is given."""

    words = StatisticLabels(
        "rating", "Ratings", "How often", "rating", "ratings", SHARES
    )
    asks = "how many --stars"
    parameters = (STARS,)
    central = False
    noise_by_shuffler = False

    stars: int
    mode: Mode = "agnostic"

    @property
    def form(self) -> Form:
        return Form("one of", self.labels)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{n} of {self.stars}" for n in range(1, self.stars + 1))

    @property
    def unbiased_if(self) -> str:
        return "Unbiased."

    def axis_ends(self, num_users: int) -> tuple[float, ...]:
        return (0.0,)

    def identity(self, offer: Offer) -> Identity:
        return Frequency(self.stars, self.mode).identity

    def choosing(self, offer: Offer) -> ChoiceRun:
        return no_targets()

    def answering(self, offer: Offer, plan: Identity | None = None) -> OneMessageRun:
        return only_stage(
            Frequency(self.stars, self.mode), offer, plan, NumberCode(self.stars)
        )


def known(name: object) -> Any:
    return RatingSurvey if name == "rating" else survey_named(name)


@pytest.mark.slow
def test_a_statistic_that_services_never_heard_of_is_collected_and_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_question, "survey_named", known)
    who = parties()
    asked = Question(
        "How was it?", survey_in(known("rating"), {"stars": 5}, "agnostic")
    )
    task, levels = replace(who.task, question=asked), crowd_levels()
    who = replace(
        who,
        hosted=replace(who.hosted, task=task),
        enroller=Enroller(task, who.enroller.signing_key),
    )
    step, rng = Step(read_task(who.task.to_json()), 1), np.random.default_rng(1)
    sent = step.run.randomize(rng.integers(0, 5, levels.size), levels, rng=rng)

    async def scenario(service: Service) -> tuple[dict[str, Any], str]:
        await service.post(who.batch(step, sent, levels))
        await service.counted()
        return (await service.result()).json(), await service.page()

    result, page = serve(tmp_path, who, scenario)

    frequency, people = Frequency(5), Population.from_budgets(levels)
    reports = Reports(frequency.identity, sent[:, 0], levels)
    alone = frequency.estimate(shuffle(reports, rng=rng), people)
    rows = result["estimate"]["rows"]
    assert [row["value"] for row in rows] == alone.value.tolist()
    assert [row["name"] for row in rows][::4] == ["1 of 5", "5 of 5"]
    assert result["statistic"] == "rating"
    assert "How often" in page


@pytest.mark.parametrize("name", SURVEYS)
def test_terms_come_back_as_they_were_given(name: str) -> None:
    kind = survey_named(name)

    survey = survey_in(kind, EVERY[name], "agnostic")

    assert set(EVERY) == set(SURVEYS)
    assert survey == survey_in(kind, terms_of(survey), "agnostic")
    assert Question.from_dict(Question("?", survey).to_dict()).survey == survey
    assert len(survey.labels) >= 1
    assert survey.words.name == name


@pytest.mark.parametrize("name", SURVEYS)
def test_terms_of_another_statistic_and_missing_ones_are_refused(name: str) -> None:
    kind, given = survey_named(name), EVERY[name]

    changed = [{**given, "more": 1}]
    changed += [{k: v for k, v in given.items() if k != term} for term in given]
    for terms in changed:
        with pytest.raises(InvalidInputError, match="to say"):
            survey_in(kind, terms, "agnostic")


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("frequency", {"categories": ["a"]}),
        ("frequency", {"categories": ["a", "a"]}),
        ("frequency", {"categories": ["a", 1]}),
        ("frequency", {"categories": "ab"}),
        ("frequency", {"categories": [str(n) for n in range(10_001)]}),
        ("mean", {"low": True}),
        ("mean", {"low": "0"}),
        ("mean", {"low": float("nan")}),
        ("mean", {"high": 10**400}),
        ("mean", {"high": -1}),
        ("mean", {"mechanism": "laplace"}),
        ("mean", {"mechanism": "grid-response"}),
        ("mean", {"mechanism": "grid-response", "values": 1}),
        ("mean", {"mechanism": "grid-response", "values": 2.5}),
        ("mean", {"mechanism": "grid-response", "values": 10_001}),
        ("mean", {"mechanism": "one-bit", "values": 5}),
        ("mean", {"values": 5}),
        ("items", {"set_size": 2.0}),
        ("items", {"set_size": True}),
        ("items", {"set_size": 0}),
        ("items", {"set_size": 4}),
        ("items", {"set_size": 257}),
    ],
    ids=lambda what: str(what)[:40],
)
def test_terms_out_of_range_are_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        survey_in(survey_named(name), {**EVERY[name], **changes}, "agnostic")


@pytest.mark.parametrize("name", SURVEYS)
@pytest.mark.parametrize("mode", ["secret", None, ["agnostic"]])
def test_a_mode_that_there_is_not_is_refused(name: str, mode: Any) -> None:
    with pytest.raises(InvalidInputError):
        survey_in(survey_named(name), EVERY[name], mode)


@pytest.mark.parametrize("name", [None, 3, "median", "strings", ["mean"]])
def test_a_statistic_that_people_cannot_be_asked_about_is_refused(name: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected one of frequency"):
        survey_named(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SURVEYS)
def test_only_targets_are_collected_in_a_stage_of_their_own(name: str) -> None:
    survey: Survey = survey_in(survey_named(name), EVERY[name], "agnostic")

    if survey.central:
        choosing = survey.choosing(OFFER)
        tally = choosing.exact((300, 200, 100))
        assert tally.counts.tolist() == [[[300, 200, 100]]]
        plan = choosing.make_rule().plan(tally, 600, spare=0)
        # Items, and a dummy; or two messages for each answer, and a dummy.
        assert survey.answering(OFFER, plan).code in (NumberCode(4), NumberCode(11))
        with pytest.raises(InvalidInputError, match="plan"):
            survey.answering(OFFER)
    else:
        with pytest.raises(InvalidInputError, match="targets"):
            survey.choosing(OFFER)
        with pytest.raises(InvalidInputError, match="no plan"):
            survey.answering(OFFER, survey.identity(OFFER))


def test_stages_have_the_numbers_of_the_wire() -> None:
    assert [(stage.name, stage.value) for stage in EpochStage] == [
        ("ANSWER", 0),
        ("CHOICE", 1),
    ]
