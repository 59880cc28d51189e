"""Plans of questionnaires, for a command line."""

from functools import partial
from pathlib import Path
from typing import Any

from shuffledp.parameter import Parameter
from shuffledp.planning.plan_declaration import PlanDeclaration, PlanOutput
from shuffledp.planning.wish import Wish
from shuffledp.statistics.questionnaire.parameters import MAX_MESSAGES
from shuffledp.statistics.questionnaire.question_file import read_questions
from shuffledp.statistics.questionnaire.questionnaire_plan import plan_questionnaire
from shuffledp.statistics.questionnaire.questionnaire_plan_table import (
    questionnaire_plan_tables,
)

_DESCRIPTION = """Plan several questions that one report answers.

Every person answers all questions; one certificate covers them together. The smallest
target decides the noise of all questions, for all people. It is divided among questions so
that the sum of their squared errors is smallest, each in units of its range and weighted by
your interest in it.

\b
A file of questions, in TOML:
  [questions.transport]
  kind = "choice"
  options = ["bus", "bicycle", "car"]
  [questions.age]
  kind = "number"
  low = 0
  high = 120
  interest = 2.0

\b
Kinds of questions, and their terms; those in brackets may be left out:
  choice        options [most]
  number        low, high [digits, skippable]
  distribution  edges [fan_out, skippable]
  table, pairs  attributes, such as {sex = ["f", "m"], home = ["city", "village"]}
  group-mean    people: the names of groups, or of a choice; low, high [digits]
  hashed-choice num_categories [messages, false_categories, key]: one of very many
  unlisted-strings
                longest [alphabet, expected, messages, false_texts, key]: a text
  means         [expected_mean: for predicted errors; unit]
  all           [interest, columns: of a table with answers, for estimate]

\b
Example:
  shuffledp plan questionnaire --questions city.toml --targets 0.5:2000,1:8000
"""


def _compute(wish: Wish, *, questions: Path, **values: Any) -> PlanOutput:
    described = read_questions(questions)
    given_options = {name: value for name, value in values.items() if value is not None}
    plan = plan_questionnaire(
        described.questions,
        wish,
        interest=described.interest,
        expected_means=described.expected_means,
        **given_options,
    )
    return PlanOutput(
        plan.to_dict, partial(questionnaire_plan_tables, plan, described.units)
    )


PLAN = PlanDeclaration(
    _DESCRIPTION,
    (
        Parameter("questions", "file", "A TOML file of questions", "FILE"),
        MAX_MESSAGES,
    ),
    _compute,
    takes_levels=False,
)
