"""Counts of buckets among noise messages, certified and attacked at every target.

People send a message into each of their buckets with a probability that their target
sets, and their part of the noise. `counts_profile` bounds the effect of changed answers
for noise as it is distributed; what devices draw differs a little, which `ReportBounds`
pays for:

*Sizes that devices never draw*, and more noise than a report may hold: with at most the
probability `cut` anybody would have drawn one.

*Probabilities in double precision.* A device decides by Bernoulli draws, which hit with
the probability they are given. A jump takes at most one for each kind and a few more,
and their product is right to four roundings for each kind. If there are at most twice as
many jumps as in the mean, and 200 more - which Chernoff's bound makes certain, up to
e^-66 - all reports together have the right probability up to a factor of e^{+-drift}.
Whether there is a jump is drawn as `draw_rounding` says for a Poisson number, or once per
slot.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.assumptions import ORDER
from shuffledp.accounting.counts.bucket_pair import ULP
from shuffledp.accounting.counts.count_noise import CountNoise
from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.draw_rounding import drift
from shuffledp.accounting.counts.noise_truncation import cut_bound
from shuffledp.accounting.counts.rate_statement import (
    LEAST_DELTA,
    certify_rates,
    losses_of_rates,
    pairs_of_rates,
)
from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.counts.report_truncation import cut_probability
from shuffledp.accounting.counts.shuffler_noise import is_from_shuffler
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.rounds.part_losses import Kinds, PartLosses
from shuffledp.accounting.statement import Statement
from shuffledp.population import Population

# The most jumps of a person's report where sizes vary: nobody draws as many.
MOST_JUMPS = 4096

# Verification compares these sentences letter by letter, as those of `assumptions`.
FROM_SHUFFLER = (
    "The shuffler adds the noise, and is trusted to: it adds dummies to every bucket, as "
    "many as the protocol's distribution gives, drawn anew in every collection, which "
    "look like people's messages, and it keeps their numbers secret from the analyst and "
    "all others.",
    "No other person adds noise: people who collude or are absent take none along, and "
    "the guarantee is the same for all who send their answers with the same probability.",
)
SIZE_OF_ANSWERS = (
    "A report has one message for each answer that is sent; the shuffler and the network "
    "see how many, and neither works with the analyst."
)
# Collections whose jumps are more than twice as many as in the mean, and 200 more.
_PROBABILITY_OF_MANY_JUMPS = 1e-28


@dataclass(frozen=True, eq=False)
class CountsExposure:
    """One report of several messages per person, all shuffled together.

    Attributes:
        groups: Buckets, the most of a person, and the noise of each group.
        people: Central epsilons that people chose, in the place of levels.
        rates: Probability to send a message, of each of them, shape (targets,).
        honest: How many honest people together add the noise.
        report_size: Messages per report, dummies included; None if sizes vary.
        cap: Largest number of noise messages in a report, others are cut; None if
            nothing is cut.
        local_epsilon: Of all answers of a person, if devices randomize them; else None.
    """

    groups: tuple[tuple[int, int, CountNoise], ...]
    people: Population
    rates: tuple[float, ...]
    honest: int
    report_size: int | None
    cap: int | None = None
    local_epsilon: float | None = None

    @property
    def noise_by_shuffler(self) -> bool:
        """Whether the shuffler adds the noise: then it depends on no person."""
        noise = [each for _, _, each in self.groups]
        return is_from_shuffler(noise, num_honest=self.honest, size=self.report_size)

    def assumptions(self, query: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        others = f"All but {query.absent:,} of the other" if query.absent else "All"
        times = query.rounds * query.coordinates
        once = "once" if times == 1 else f"{times:,} times, with independent randomness"
        size = (
            "The size of a report depends on its noise, and on how many answers are sent; "
            "the shuffler and the network see it, and neither works with the analyst."
            if self.report_size is None
            else f"Every report has {self.report_size:,} messages: answers, noise, and "
            "dummies that only the analyst can tell from them."
        )
        num_marked = sum(num_marked for _, num_marked, _ in self.groups)
        noise: tuple[str, ...] = (
            f"{others} people who are counted are honest and really draw their part of "
            "the noise; people who collude or are absent add none.",
        )
        if self.noise_by_shuffler:
            noise, size = FROM_SHUFFLER, SIZE_OF_ANSWERS
        return (
            *noise,
            f"Every person sends one report, {once}.",
            size,
            "People are independent, and answers do not depend on others' messages.",
            ORDER,
            "Targets travel apart from messages: they cannot be linked.",
            "Two collections are compared in which the answers of one person, at most "
            f"{num_marked:,} in all, are replaced by any others; the target, and how many "
            "people chose each, are public.",
        )

    def numerics(self, query: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        cut, off = self._cut(query), 2.0 * self._drift(query)
        draws: tuple[str, ...] = (
            "Bounds of truncation and rounding are added to every certified delta, and "
            f"those of draws that devices do not make, with a probability of {cut:.1e} at "
            "most.",
            "Draws of all devices are right up to rounding: together they add "
            f"{off:.1e} to every certified epsilon.",
        )
        if self.noise_by_shuffler:
            draws = (
                "Bounds of rounding, of this computation and of the shuffler's draws, are "
                "added to every certified epsilon and delta.",
            )
        return (
            "Certified numbers have six digits, rounded outward, at which the bound was "
            "evaluated and held.",
            *draws,
            "Composed through a loss distribution that dominates that of one bucket "
            "(chords between nodes), by an integral whose errors are added.",
        )

    def certify(self, query: AccountingQuery) -> Statement:
        """Answers the query; errors are those of `certify_rates`."""
        return certify_rates(
            query,
            people=self.people,
            rates=self.rates,
            changes=self._times(query) * sum(most for _, most, _ in self.groups),
            bounds_of=lambda rate: self.bounds(rate, query),
            sent="answers",
            rests_on="shuffler" if self.noise_by_shuffler else "counts",
            local_epsilon=self.local_epsilon,
        )

    @property
    def message_family(self) -> Hashable:
        """See `ComposableExposure`."""
        return self

    def attacked(self, query: AccountingQuery) -> Statement:
        """See `ComposableExposure`."""
        return self.certify(query)

    def part_losses(
        self, query: AccountingQuery, *, delta: float
    ) -> dict[int, PartLosses]:
        """See `ComposableExposure`."""

        def losses_of(rate: float, near: AccountingQuery) -> tuple[ReportBounds, Kinds]:
            profile = self._profile(rate, near)
            return self.with_draws(profile, near), profile.kinds

        return losses_of_rates(
            query,
            delta=delta,
            rates=self.rates,
            losses_of=losses_of,
            local_epsilon=self.local_epsilon,
        )

    def attacked_pairs(
        self, query: AccountingQuery, *, delta: float
    ) -> dict[int, tuple[AttackedPair, ...]]:
        """See `ComposableExposure`."""
        return pairs_of_rates(
            query, delta=delta, rates=self.rates, profile_of=self._profile
        )

    def bounds(self, rate: float, query: AccountingQuery) -> ReportBounds:
        """Returns both ends for people who send each message with this probability."""
        return self.with_draws(self._profile(rate, query), query)

    def _profile(self, rate: float, query: AccountingQuery) -> CountsProfile:
        """Returns the profile for noise as it is distributed."""
        factor = self._honest(query) / self.honest
        return CountsProfile.of_groups(
            # Scaled where something is sent: fewer people may not be enough for a proof.
            ((d, most, noise.scaled(factor)) for d, most, noise in self.groups),
            rate,
            delta=query.delta or LEAST_DELTA,
            times=self._times(query),
            # Randomized before: what is known of the answers themselves is no attack.
            is_attacked=self.local_epsilon is None,
        )

    def with_draws(
        self, profile: CountsProfile, query: AccountingQuery
    ) -> ReportBounds:
        """Returns both ends for messages as devices draw them."""
        return ReportBounds(
            profile,
            min(self._cut(query) + 2.0 * profile.missing, 1.0),
            self._drift(query) + profile.drift,
        )

    @property
    def _of_devices(self) -> tuple[tuple[int, int, CountNoise], ...]:
        """Returns the groups whose noise devices draw."""
        # What the shuffler draws is paid for bucket by bucket, with the pair.
        return () if self.noise_by_shuffler else self.groups

    def _honest(self, query: AccountingQuery) -> int:
        """Returns how many people surely add noise, the target user included."""
        return self.people.num_users - query.absent

    def _times(self, query: AccountingQuery) -> int:
        return query.rounds * query.coordinates

    def _cut(self, query: AccountingQuery) -> float:
        """Returns a bound of the probability of draws that no device makes."""
        total, num_honest = 0.0, self._honest(query)
        for buckets, _, noise in self._of_devices:
            jumps = noise.jumps()
            part = num_honest / self.honest
            # Of each group, too many jumps in all, or of one person.
            total += jumps.omitted * buckets * part + 2.0 * _PROBABILITY_OF_MANY_JUMPS
            if self.report_size is None:
                mean = jumps.total * buckets / self.honest
                total += cut_probability(mean, MOST_JUMPS, num_honest)
        if self.cap is not None:
            # A report holds fewer messages than the most jumps of a person.
            total += num_honest * cut_bound(
                self.groups, num_honest=self.honest, cap=self.cap
            )
        return min(total * self._times(query), 1.0)

    def _drift(self, query: AccountingQuery) -> float:
        """Returns the drift of all honest draws in all collections."""
        total, num_honest = 0.0, self._honest(query)
        for buckets, _, noise in self._of_devices:
            jumps = noise.jumps()
            mean = jumps.total * buckets * num_honest / self.honest
            total += 2.0 * (mean + 100.0) * (8.0 * jumps.kinds + 16.0) * ULP
            if self.report_size is None or self.cap is not None:
                cap = min(_usual_jumps(mean / num_honest, num_honest), MOST_JUMPS)
                total += drift(mean / num_honest, cap, num_honest)
        return total * self._times(query)


def _usual_jumps(mean: float, num_honest: int) -> int:
    """Returns a number that no one's jumps exceed, up to a probability of 1e-28."""
    cap = 1
    while cut_probability(mean, cap, num_honest) > _PROBABILITY_OF_MANY_JUMPS:
        cap *= 2
    return cap
