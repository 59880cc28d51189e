"""Frequencies of made-up visitors of a news site, for a demonstration."""

from shuffledp.datasets.msnbc import MSNBC_CATEGORIES
from shuffledp.datasets.synthetic import draw_msnbc_like, draw_msnbc_like_holders
from shuffledp.population import Population
from shuffledp.statistics.frequency.drawn_rehearsal import rehearse_drawn
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.frequency.rehearsal import rehearse_frequency
from shuffledp.statistics.rehearsal_stage import Rehearsal, Stage
from shuffledp.statistics.rehearsed_collection import assign_levels, counts_of_shares
from shuffledp.statistics.summary import Summary

# Larger collections would take gigabytes if each message were drawn.
_MOST_DRAWN_ONE_BY_ONE = 10**7


def made_up_rehearsal(num_users: int, shares: dict[float, float]) -> Rehearsal:
    """Returns a rehearsal of a collection from made-up people.

    Args:
        num_users: How many people take part.
        shares: Privacy levels, and the share of people at each.
    """
    source = f"{num_users:,} made-up visitors of a news site"

    def rehearse(stage: Stage) -> Summary:
        protocol = Frequency(len(MSNBC_CATEGORIES), stage.mode)
        # Counts of messages have the same distribution as messages that are counted.
        if num_users > _MOST_DRAWN_ONE_BY_ONE:
            people = Population.from_counts(counts_of_shares(shares, num_users))
            return rehearse_drawn(
                stage,
                protocol,
                draw_msnbc_like_holders(people.counts, rng=stage.rng),
                people,
                source,
                names=MSNBC_CATEGORIES,
            )
        values = draw_msnbc_like(num_users, rng=stage.rng)
        return rehearse_frequency(
            stage,
            values,
            MSNBC_CATEGORIES,
            assign_levels(shares, num_users, rng=stage.rng),
            source,
            protocol,
        )

    return rehearse
