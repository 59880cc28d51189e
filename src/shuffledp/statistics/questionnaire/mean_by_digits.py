"""The error of a mean from several messages, beside protocols that send one.

It is for comparison: about the noise that would be certified is enough.
"""

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.planning.collection_design import Yardstick
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.questionnaire.certified_questionnaire import (
    likely_questionnaire,
)
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.questionnaire_plan import (
    expected_estimates,
    mean_messages,
)


def mean_by_digits(
    guarantee: Guarantee, *, low: float, high: float
) -> Yardstick | None:
    """Returns about the error of a mean from binary digits; None if there is none.

    Args:
        guarantee: Central epsilons to keep, at a delta.
        low: Smallest possible value.
        high: Largest possible value.
    """
    smallest_epsilon = min(level.epsilon_central for level in guarantee.levels)
    if smallest_epsilon <= 0.0 or guarantee.delta is None:
        return None
    # With noise for the smallest epsilon, all people may send everything.
    wish = Wish(
        targets={smallest_epsilon: guarantee.num_users},
        delta=guarantee.delta,
        absent=guarantee.absent,
    )
    question = NumberQuestion("number", low, high)
    try:
        asked = likely_questionnaire((question,), wish)
    except (CertificationError, InvalidInputError):
        return None
    people = Population.from_counts(dict(wish.targets or {}))
    expected = expected_estimates(asked, people, {})
    (error,) = expected["number"].standard_error.tolist()
    return Yardstick(
        "several messages per person",
        error,
        f"digits among noise, about {mean_messages(asked):.1f} messages and dummies, at "
        "the same central guarantees, which `shuffledp plan questionnaire` certifies",
    )
