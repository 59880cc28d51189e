"""Tables of three and four choices in a form: encoding, labels and estimates."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shuffledp.asked_combination import AskedCombination
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import AskedQuestion, asked_questions, described
from shuffledp.errors import InvalidInputError
from shuffledp.statistics.counts.counts_plan_rule import CountsPlanRule
from shuffledp.statistics.counts.form_encoding import FormEncoding
from shuffledp.statistics.counts.survey import CountsSurvey
from shuffledp.statistics.questionnaire.table_question import TableQuestion
from shuffledp.statistics.survey import Offer

WAY = AskedQuestion("Way?", ("bike", "bus", "car"))
PARK = AskedQuestion("Park?", ("yes", "no"))
HOME = AskedQuestion("Home?", ("center", "suburbs", "village"))
SMOKES = AskedQuestion("Smoker?", ("yes", "no"))
ASKED = (WAY, PARK, HOME, SMOKES)
FIRST = (0, 3, 5, 8)
THREE = AskedCombination.among(ASKED, 2, 0, 1)
ALL = AskedCombination.among(ASKED, 0, 1, 2, 3)
SURVEY = CountsSurvey((*ASKED, THREE, ALL))


def positions(rng: np.random.Generator, num_users: int) -> Any:
    """Positions of options, -1 for none, shape (n, 4)."""
    columns = [rng.integers(-1, len(q.options), num_users) for q in ASKED]
    return np.column_stack(columns)


def values(given: Any) -> Any:
    """The same, as options counted over all choices."""
    sizes = [len(asked.options) for asked in ASKED]
    return np.where(given >= 0, given + FIRST, sum(sizes))


def test_cells_are_those_of_a_table_question() -> None:
    rng = np.random.default_rng(1)
    given = positions(rng, 500)

    encoded = FormEncoding(SURVEY.questions).encode(values(given), rng=rng)

    for column, order in ((4, [2, 0, 1]), (5, [0, 1, 2, 3])):
        attributes = {ASKED[place].text: ASKED[place].options for place in order}
        table = TableQuestion("t", attributes)
        assert np.array_equal(
            encoded[:, column], table.encode(given[:, order], rng=rng)[:, 0]
        )
        (group,) = FormEncoding(SURVEY.questions).entries[column]
        assert group.buckets == table.groups[0].buckets


def test_every_cell_has_its_label_in_the_order_of_its_buckets() -> None:
    labels = SURVEY.labels[10:]

    of_three = [
        f"Home?: {home} & Way?: {way} & Park?: {park}"
        for home, way, park in itertools.product(
            HOME.options, WAY.options, PARK.options
        )
    ]
    assert list(labels[:18]) == of_three
    assert labels[18] == "Way?: bike & Park?: yes & Home?: center & Smoker?: yes"
    assert labels[-1] == "Way?: car & Park?: no & Home?: village & Smoker?: no"
    assert len(labels) == 18 + 36
    together = [
        text for what, text in described(SURVEY.questions) if "together" in what
    ]
    assert together == [
        "Home? & Way? & Park?",
        "Way? & Park? & Home? & Smoker?",
    ]


def test_shares_of_cells_are_unbiased() -> None:
    offer, people = Offer((2.0,), 1e-4, 0), 3_000
    rng = np.random.default_rng(2)
    rule = SURVEY.choosing(offer).make_rule()
    assert isinstance(rule, CountsPlanRule)
    chosen = SURVEY.choosing(offer).exact((people,))
    run = SURVEY.answering(offer, rule.plan(chosen, people, spare=0))
    given = positions(rng, people)
    answered = given[:, [2, 0, 1]]
    cells = answered[np.all(answered >= 0, axis=1)]
    truth = np.bincount(cells @ [6, 2, 1], minlength=18) / people

    messages = run.randomize(values(given), np.full(people, 2.0), rng=rng)
    estimate = run.estimate(run.tally(messages.ravel(), None), chosen)

    errors = (estimate.value[10:28] - truth) / estimate.standard_error[10:28]
    # 18 standard normal numbers: one beyond five in 100,000 seeds.
    assert np.all(np.abs(errors) <= 5.0)
    assert 0.2 <= np.var(errors) <= 3.0


@pytest.mark.parametrize(
    "of", [(), (0,), (0, 1, 2, 3, 4), (0, 1, 0), (0, 9, 1), (4, 0, 1)]
)
def test_other_tables_are_refused(of: tuple[int, ...]) -> None:
    number = AskedNumber.in_digits("Minutes?", 0, 120, digits=4)

    with pytest.raises(InvalidInputError):
        AskedCombination.among((*ASKED, number), *of)


@pytest.mark.parametrize(
    "change",
    [
        {"of": (2, 0)},
        {"of": (0, 2, 1)},
        {"of": (2, 0, 0)},
        {"of": "201"},
        {"groups": (((2, 1, 3), (0, 1, 3)),)},
        {"groups": (((2, 1, 3), (0, 1, 3), (1, 1, 3)),)},
        {"groups": ("201",)},
    ],
    ids=str,
)
def test_forged_tables_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        CountsSurvey((*ASKED, replace(THREE, **change)))


def test_a_number_is_combined_with_one_choice_alone() -> None:
    number = AskedNumber.in_digits("Minutes?", 0, 120, digits=4)
    asked = (*ASKED, number)

    assert AskedCombination.among(asked, 0, 4).of == (0, 4)
    for of in ((0, 1, 4), (4, 0)):
        with pytest.raises(InvalidInputError, match="beside a number"):
            AskedCombination.among(asked, *of)


def test_a_file_names_up_to_four_choices(tmp_path: Any) -> None:
    path = tmp_path / "form.toml"
    path.write_text(
        """
        [questions.all]
        kind = "table"
        attributes = ["way", "park", "home", "smokes"]
        [questions.way]
        options = ["bike", "bus", "car"]
        [questions.park]
        options = ["yes", "no"]
        [questions.home]
        options = ["center", "suburbs", "village"]
        [questions.smokes]
        options = ["yes", "no"]
        """,
        encoding="utf-8",
    )

    questions = asked_questions(path)

    assert questions is not None
    table = questions[0]
    assert isinstance(table, AskedCombination)
    assert table.of == (1, 2, 3, 4)
    assert CountsSurvey(questions).labels[0] == (
        "way: bike & park: yes & home: center & smokes: yes"
    )
