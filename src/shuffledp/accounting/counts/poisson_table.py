"""Certified sampling rates for a grid of noise, of several questions in one report.

Every bucket of group g has Poisson noise, of all honest people together at least
noise x sqrt(s_g) in the mean, s_g being the answers that a person may give: of all
divisions, about that of the smallest sum of squared errors of a bucket of each question.
A row lists a noise and, for each target, a rate that keeps it. docs/theory/plans.md proves
that a plan below a row keeps every target:

    more noise is post-processing, bucket by bucket;
    a smaller rate is the same with some answers dropped;
    smaller errors of cuts and draws are covered by larger ones.

*The draws.* A device draws a Poisson number for each of G groups, and stops at `cap` noise
messages in all. What was drawn after that is not sent, so that at most cap + G draws decide
about a report (see `draw_rounding`). They are counted twice: a mean per person is rounded
two times, which changes the probability of N messages by a factor of up to
e^{2.3e-16 (N + m)}, less than (cap + G) draws do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shuffledp.accounting.calibration.checked_targets import positive_targets
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import CountsParameters
from shuffledp.accounting.counts.draw_rounding import drift
from shuffledp.accounting.counts.estimated_delta import (
    estimated_delta,
    estimated_mean,
    estimated_send_probability,
)
from shuffledp.accounting.counts.poisson_pair import LARGEST_MEAN
from shuffledp.accounting.counts.rate_rows import (
    COIN_ERROR,
    MARGIN,
    certified_delta,
    check_rates,
    check_rows,
    find_rows,
    prove_rows,
)
from shuffledp.accounting.counts.report_truncation import CUT_SHARE, cut_probability
from shuffledp.accounting.epsilon_solver import round_down
from shuffledp.errors import InvalidInputError

# Newton steps that correct estimates where buckets have different noise.
_NEWTON_STEPS, _A_LITTLE_MORE, _TINY = 2, 1.01, 1e-300


@dataclass(frozen=True)
class PoissonTable:
    """Rates that keep targets, and the settings for which they were certified.

    Attributes:
        groups: Buckets, at least 2, and the answers of a person, of each question.
        targets: Central epsilons above 0, strictly increasing.
        delta: At which targets are kept, in (0, 1).
        cut: The largest probability that any honest report is cut by its size.
        coin_error: The largest tau of `draw_rounding.drift`.
        noise: Of each row, strictly increasing, shape (rows,).
        rates: The largest rate of each target at each noise, none smaller than at the
            noise before, shape (rows, targets).
    """

    groups: tuple[tuple[int, int], ...]
    targets: tuple[float, ...]
    delta: float
    cut: float
    coin_error: float
    noise: tuple[float, ...]
    rates: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if not self.groups or not all(d >= 2 and 1 <= s <= d for d, s in self.groups):
            raise InvalidInputError(
                "Expected questions of at least 2 answers each, some of which are given."
            )
        positive_targets(self.targets)
        if list(self.targets) != sorted(set(self.targets)):
            raise InvalidInputError("Expected distinct targets in ascending order.")
        small = (self.delta, self.cut, self.coin_error)
        if not all(0.0 < number < 1.0 for number in small):
            raise InvalidInputError("Expected delta, cut and draw error in (0, 1).")
        check_rows(self.noise, self.rates, len(self.targets))

    def means(self, noise: float) -> tuple[float, ...]:
        """Returns the noise of a bucket of each group, of all honest people together."""
        return _bucket_means(self.groups, noise)

    def check(self, plan: CountsParameters, num_honest: int) -> None:
        """Checks that a plan keeps every target if `num_honest` people answer honestly.

        Args:
            plan: For the table's questions and targets.
            num_honest: The least number of people who really send their noise.

        Raises:
            InvalidInputError: If the table does not show it.
        """
        stated = tuple((group.buckets, group.most) for group in plan.groups)
        if (stated, plan.targets) != (self.groups, self.targets):
            raise InvalidInputError(
                "Expected a plan for the rule's questions and targets."
            )
        noise = poisson_means(plan)
        if plan.local_epsilon is not None:
            raise InvalidInputError("Expected a plan without a local epsilon.")
        if noise is None or plan.cap is None:
            raise InvalidInputError(
                "Expected a plan with Poisson noise, and reports of one size."
            )
        # The noise is that of `plan.honest` people together: as many have to send it.
        row = self._row_below(noise) if 1 <= plan.honest <= num_honest else None
        if row is None:
            raise InvalidInputError(
                f"Expected noise of at most {num_honest:,} people, at least "
                f"{self.noise[0]:g} messages for each bucket, got "
                f"{min(noise):g} of {plan.honest:,} people."
            )
        check_rates(self.targets, plan.rates, self.rates[row])
        messages = self.messages(noise, plan.honest)
        if not self.fits(messages, plan.cap, num_honest):
            raise InvalidInputError(
                f"Expected larger reports than {plan.size:,} messages, or fewer noise "
                "messages per person."
            )

    def messages(self, means: Sequence[float], num_honest: int) -> float:
        """Returns the noise messages of a person in the mean.

        Args:
            means: Noise of a bucket of each group, of all honest people together.
            num_honest: How many people these are.
        """
        pairs = zip(means, self.groups, strict=True)
        return sum(mean * buckets for mean, (buckets, _) in pairs) / num_honest

    def fits(self, messages: float, cap: int, num_honest: int) -> bool:
        """Tells whether cuts and draws cost no more than the table allows.

        Args:
            messages: Of noise, per person in the mean.
            cap: Noise messages that a report holds.
            num_honest: People who really send their noise.
        """
        # Counted twice: a mean per person is rounded two times (see above).
        draws = 2 * (cap + len(self.groups))
        return (
            cut_probability(messages, cap, num_honest) <= self.cut
            and drift(messages, draws, num_honest) <= self.coin_error
        )

    def prove(self) -> None:
        """Certifies every rate of the table.

        Raises:
            CertificationError: If one does not keep its target.
        """
        prove_rows(self.noise, self.rates, self.targets, self.delta, self._delta)

    def _row_below(self, noise: Sequence[float]) -> int | None:
        """Returns the last row with no more noise in any group; None if there is none."""
        rows_below = [
            row
            for row, amount in enumerate(self.noise)
            if all(
                mean >= row_mean
                for mean, row_mean in zip(noise, self.means(amount), strict=True)
            )
        ]
        return rows_below[-1] if rows_below else None

    def _delta(self, noise: float, rate: float, target: float) -> float:
        return _certified_delta(
            noise,
            rate,
            target,
            groups=self.groups,
            delta=self.delta,
            cut=self.cut,
            coin_error=self.coin_error,
        )


def poisson_means(plan: CountsParameters) -> list[float] | None:
    """Returns the mean noise of each group's buckets; None if it is not Poisson."""
    noise = [group.noise for group in plan.groups]
    means = [each.mean for each in noise if isinstance(each, PoissonNoise)]
    return means if len(means) == len(noise) else None


def make_poisson_table(
    groups: Sequence[tuple[int, int]], targets: Sequence[float], delta: float
) -> PoissonTable:
    """Computes a table that `PoissonTable.prove` certifies, with nearly the largest rates.

    Args:
        groups: Buckets, and the answers of a person, of each question.
        targets: Central epsilons above 0, strictly increasing.
        delta: At which they are to be kept, in (0, 1).

    Raises:
        InvalidInputError: If a parameter is out of range.
        CertificationError: If nothing is found that can be proven.
    """
    positive_targets(targets)
    # At epsilon, reports that are cut cost (1 + e^epsilon) times their probability.
    cut = round_down(CUT_SHARE * delta / (1.0 + math.exp(max(targets))))

    def keeps(noise: float, rate: float, target: float) -> bool:
        certified = _certified_delta(
            noise,
            rate,
            target,
            groups=groups,
            delta=delta,
            cut=cut,
            coin_error=COIN_ERROR,
        )
        return certified <= (1.0 - MARGIN) * delta

    goal = (1.0 - 2.0 * MARGIN) * delta
    # The number of answers in buckets of noise 1 that tell about as much.
    times = max(round(sum(math.sqrt(most) for _, most in groups)), 1)
    # Only groups of different noise are estimated roughly: others need no steps.
    is_mixed = len(set(_bucket_means(groups, 1.0))) > 1

    def nearer(noise: float, rate: float, target: float) -> float:
        """Returns by which part log(delta) misses its goal, in steps of log(noise)."""
        delta_kept = _certified_delta(
            noise,
            rate,
            target,
            groups=groups,
            delta=delta,
            cut=cut,
            coin_error=COIN_ERROR,
        )
        log_delta, log_delta_beside = (
            math.log(estimated_delta(amount, rate, times, target))
            for amount in (noise, _A_LITTLE_MORE * noise)
        )
        slope = (log_delta_beside - log_delta) / math.log(_A_LITTLE_MORE)
        return math.exp((math.log(goal) - math.log(max(delta_kept, _TINY))) / slope)

    def estimated_noise(target: float) -> float:
        noise = estimated_mean(1.0, times, target, goal)
        for _ in range(_NEWTON_STEPS if is_mixed else 0):
            noise *= nearer(noise, 1.0, target)
        return noise

    def estimated_rate(noise: float, target: float) -> float:
        rate = estimated_send_probability(noise, times, target, goal)
        for _ in range(_NEWTON_STEPS if is_mixed else 0):
            # A rate of half the size needs a quarter of the noise.
            rate = min(rate / math.sqrt(nearer(noise, rate, target)), 1.0)
        return rate

    noise, rates = find_rows(
        targets,
        keeps=keeps,
        estimated_noise=estimated_noise,
        estimated_rate=estimated_rate,
        largest_noise=LARGEST_MEAN / max(_bucket_means(groups, 1.0)),
    )
    return PoissonTable(
        groups=tuple(groups),
        targets=tuple(targets),
        delta=delta,
        cut=cut,
        coin_error=COIN_ERROR,
        noise=noise,
        rates=rates,
    )


def _bucket_means(groups: Sequence[tuple[int, int]], noise: float) -> tuple[float, ...]:
    return tuple(noise * math.sqrt(most) for _, most in groups)


def _certified_delta(
    noise: float,
    rate: float,
    target: float,
    *,
    groups: Sequence[tuple[int, int]],
    delta: float,
    cut: float,
    coin_error: float,
) -> float:
    answers: dict[float, int] = {}
    # Answers into buckets of equal noise are changed alike, whatever their question.
    for mean, (_, most) in zip(_bucket_means(groups, noise), groups, strict=True):
        answers[mean] = answers.get(mean, 0) + most
    return certified_delta(
        answers, rate, target, delta=delta, cut=cut, coin_error=coin_error
    )
