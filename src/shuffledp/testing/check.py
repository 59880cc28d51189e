"""Conformance check of a randomizer: draws and declarations against exact distributions.

A certificate is only as good as the cover it rests on, and the randomizer states its cover
itself. `check_randomizer` compares everything that a randomizer states or does - draws,
cover, attacks, local budget, moments - with its exact message distribution, and with exact
divergences of small populations. It observes a device in a few thousand calls and does not
read its code: leaks that are rare (the finding about the drawn distribution states how
rare), or that depend on time or on a trigger, are not detected.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from shuffledp.arrays import level_array
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import ConformanceError, InvalidInputError
from shuffledp.population import check_budgets
from shuffledp.randomness import Rng, check_rng
from shuffledp.testing.conformance import PROPERTIES, Conformance, ConformanceFinding
from shuffledp.testing.cover_check import check_covers, check_supports, covers_of
from shuffledp.testing.cover_queries import check_cover_queries
from shuffledp.testing.distribution_table import tabulate
from shuffledp.testing.estimator_check import check_estimator, check_message_validation
from shuffledp.testing.exact_divergences import check_small_populations
from shuffledp.testing.independence_check import check_independence
from shuffledp.testing.local_budget_check import check_local_budget
from shuffledp.testing.message_distribution import has_distribution
from shuffledp.testing.sampling_check import check_drawn_distribution


def check_randomizer(
    randomizer: Any, *, levels: tuple[float, ...] = (0.5, 1.0, 2.0), rng: Rng
) -> Conformance:
    """Compares a randomizer's draws and declarations with its exact message distribution.

    >>> import numpy as np, shuffledp as sdp
    >>> from shuffledp.testing import check_randomizer
    >>> result = check_randomizer(sdp.KRandomizedResponse(3), rng=np.random.default_rng(1))
    >>> result.failed, len(result.checked)
    ((), 8)

    Args:
        randomizer: The object that runs on the devices.
        levels: Local budgets to try, > 0; each is compared with each.
        rng: The only source of randomness. The check of a correct randomizer fails with
            a probability of one in a million.

    Returns:
        The findings of all checks, with numbers, and the checks that were not applicable.

    Raises:
        ConformanceError: If a check fails; its `conformance` has all findings.
        InvalidInputError: If it is not a randomizer, it refuses a level, or it has too many
            messages to enumerate.
    """
    check_rng(rng)
    distinct_levels = tuple(sorted(set(level_array(levels).tolist())))
    check_budgets(level_array(distinct_levels))
    if not distinct_levels or distinct_levels[0] <= 0.0:
        raise InvalidInputError("Expected levels > 0.")
    # A class would pass the protocol's check: it has the members of its instances.
    if isinstance(randomizer, type) or not isinstance(randomizer, LocalRandomizer):
        raise InvalidInputError(
            "Expected a randomizer that hands over its cover, got "
            f"{getattr(randomizer, '__name__', type(randomizer).__name__)}."
        )
    conformance = Conformance(
        randomizer.mechanism,
        distinct_levels,
        tuple(_findings(randomizer, distinct_levels, rng)),
    )
    if conformance.failed:
        raise ConformanceError(str(conformance), conformance)
    return conformance


def _findings(
    randomizer: Any, levels: tuple[float, ...], rng: Rng
) -> Iterable[ConformanceFinding]:
    if not has_distribution(randomizer):
        for about in PROPERTIES:
            yield ConformanceFinding(
                about, "it states no distribution of its messages.", None
            )
        return
    distributions = tabulate(randomizer, levels, rng=rng)
    covers = covers_of(distributions)
    parts: dict[str, Callable[[], Iterable[ConformanceFinding]]] = {
        "drawn law": lambda: check_drawn_distribution(distributions, rng=rng),
        "independence": lambda: check_independence(distributions, rng=rng),
        "covers": lambda: chain(
            check_covers(distributions, covers), check_cover_queries(distributions)
        ),
        "supports": lambda: check_supports(distributions, covers),
        "local budget": lambda: check_local_budget(distributions),
        "crowds": lambda: check_small_populations(distributions),
        "estimator": lambda: check_estimator(distributions, rng=rng),
        "messages": lambda: check_message_validation(distributions, rng=rng),
    }
    failed = False
    for about in PROPERTIES:
        # Messages that miss their distribution fail every test of independence, too.
        if about == "independence" and failed:
            text = "single messages are not of the stated distribution already."
            yield ConformanceFinding(about, text, None)
            continue
        for finding in parts[about]():
            failed = failed or finding.holds is False
            yield finding
