"""A plan of a search for unlisted texts: its reach and its guarantee."""

from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import CertificationError
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.questionnaire_plan import (
    QuestionnairePlan,
    plan_questionnaire,
)
from shuffledp.statistics.questionnaire.texts.discovery_design import (
    DiscoveryPrediction,
)
from shuffledp.statistics.questionnaire.texts.unlisted_strings_question import (
    UnlistedStringsQuestion,
)

NAME = "string"
USUAL_MESSAGES = 128
# Messages for the answers of a person: a design has about as many groups.
_ANSWERS = 14


@dataclass(frozen=True, eq=False)
class UnlistedStringsPlan:
    """A questionnaire of one question for texts, with its reach.

    Attributes:
        plan: The questionnaire, certified.
        prediction: Probabilities to find texts.
    """

    plan: QuestionnairePlan
    prediction: DiscoveryPrediction

    @property
    def questionnaire(self) -> Questionnaire:
        """The questionnaire that devices answer."""
        return self.plan.questionnaire

    @property
    def guarantee(self) -> Guarantee:
        """Of each target, after the shuffle."""
        return self.plan.guarantee

    @property
    def found_from(self) -> float:
        """People from which a text is found with a probability of 95%, predicted."""
        return self.prediction.found_from()

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as plain values, for JSON."""
        prediction = self.prediction
        return {
            "found_from": self.found_from,
            "expected": prediction.expected,
            "false_texts": prediction.false_texts,
            **self.plan.to_dict(),
        }


def plan_unlisted_strings(
    wish: Wish,
    *,
    longest: int,
    alphabet: str | None = None,
    expected: int = 100,
    max_messages: int = USUAL_MESSAGES,
    false_texts: float = 0.05,
    key: int = 0,
) -> UnlistedStringsPlan:
    """Returns the search that finds texts of the fewest people at a certified target.

    >>> import shuffledp as sdp
    >>> plan = plan_unlisted_strings(
    ...     sdp.Wish(targets={1.0: 20_000}), longest=3, max_messages=64, expected=20
    ... )
    >>> 80 < plan.found_from < 110, plan.guarantee.levels[0].epsilon_central <= 1.0
    (True, True)

    Args:
        wish: Targets, people, delta, absent people.
        longest: Symbols of the longest text.
        alphabet: See `UnlistedStringsQuestion`.
        expected: About how many texts are frequent enough to be found: a guess.
        max_messages: Messages of a person in the mean, without dummies.
        false_texts: How many texts without a holder may be printed, in the mean.
        key: Of hash functions: public, and chosen before texts are.

    Raises:
        InvalidInputError: If a parameter is out of range.
        PopulationError: If more people may be absent than there are others.
        CertificationError: If nothing is found that can be proven, or no text.
    """
    check_whole(max_messages, "messages per person", least=1)
    question = UnlistedStringsQuestion(
        NAME,
        longest,
        alphabet,
        expected,
        max(float(max_messages - _ANSWERS), 1.0),
        false_texts,
        key,
    )
    # The search for noise begins above its result; designs keep to the limit themselves.
    plan = plan_questionnaire((question,), wish, max_messages=2 * max_messages)
    if plan.messages > max_messages:
        raise CertificationError(
            f"No search with at most {max_messages} messages per person will do: expected "
            "more messages."
        )
    people = Population.from_counts(dict(wish.targets or {}))
    return UnlistedStringsPlan(plan, prediction_of(plan.questionnaire, people))


def prediction_of(asked: Questionnaire, people: Population) -> DiscoveryPrediction:
    """Returns the reach of a questionnaire of one question for texts.

    Args:
        asked: With noise.
        people: How many people chose each target.
    """
    (question,) = asked.questions
    assert isinstance(question, UnlistedStringsQuestion)
    channels = [asked.counts.channel(group, people) for group in asked.counts.groups]
    design = question.chosen
    return DiscoveryPrediction(
        design.layout,
        channels[0].noise_variance,
        channels[-1].noise_variance,
        people.num_users,
        question.expected,
        design.least,
        question.false_texts,
    )
