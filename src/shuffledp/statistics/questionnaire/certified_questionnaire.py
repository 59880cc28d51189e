"""A questionnaire with noise that keeps all targets, and its certificate."""

from collections.abc import Callable, Mapping, Sequence

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.report_sizing import keeps_targets
from shuffledp.errors import CertificationError
from shuffledp.planning.wish import Wish
from shuffledp.statistics.questionnaire.noise_task import NoiseTask, noise_task
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.question import Question


def certified_questionnaire(
    questions: Sequence[Question],
    wish: Wish,
    *,
    interest: Mapping[str, float] | None = None,
    max_messages: int | None = None,
    on_step: Callable[[str], None] = lambda _step: None,
) -> tuple[str, Questionnaire, Guarantee]:
    """Returns the name of the noise, the questionnaire, and its certificate.

    Errors to expect are left to `plan_questionnaire`, whose arguments and exceptions these
    are: of a million categories they take longer than all the rest.
    """
    task = noise_task(questions, wish, interest=interest, max_messages=max_messages)
    name, questionnaire = _least_error(task, on_step)
    guarantee = account(
        questionnaire,
        task.search.people,
        delta=wish.delta,
        quantiles=False,
        absent=wish.absent,
    )
    # The search is not trusted: its result is certified as a whole.
    if not keeps_targets(guarantee):
        raise CertificationError(
            f"No noise found that keeps all targets at delta {wish.delta:g}."
        )
    return name, questionnaire, guarantee


def likely_questionnaire(questions: Sequence[Question], wish: Wish) -> Questionnaire:
    """Returns about the questionnaire of `certified_questionnaire`; nothing is certified.

    Raises:
        CertificationError: If no noise is likely to do.
    """
    task = noise_task(questions, wish)
    for search in task.searches():
        sizes = task.sizes(search, lambda _step: None)
        if sizes:
            return search.questionnaire(sizes[0].noise)
    raise task.refusal


def _least_error(
    task: NoiseTask, on_step: Callable[[str], None]
) -> tuple[str, Questionnaire]:
    """Returns the certified noise of the smallest error.

    Raises:
        CertificationError: If there is none.
    """
    for search in task.searches():
        for sized in task.sizes(search, on_step):
            on_step("certificate")
            noise = search.certified(sized.division, sized.size, task.target)
            if noise is not None:
                return sized.division.name, search.questionnaire(noise)
    raise task.refusal
