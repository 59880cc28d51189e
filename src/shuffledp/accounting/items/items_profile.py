"""The profile of one person whose set of items is replaced by any other.

The adversary sees a count per item. With Poisson(m) blanket messages from each of H honest
people, the target user's own included, blanket counts of d items are independent
Poisson(H m / d), and their total says nothing about anybody: a group of `counts`, whose
buckets are the items.

Let the target user's set A, of at most s items, become B. Counts of items in both sets,
or in neither, have the same distribution in both worlds and are independent of the
rest. At most s items are only in A, at most s only in B. Pair them up; an item without
a partner gets an imaginary one that no other user sends, among Poisson(H m / d) blanket
messages, which the adversary may see as well. In each couple a message moves, all couples
are independent, and fewer than s couples reveal no more than s couples.

In several collections, with independent randomness, all couples of all of them are
independent, however sets change from one to the next: as many times s couples.
"""

from shuffledp.accounting.counts.count_noise import PoissonNoise, number_between
from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.poisson_pair import LARGEST_MEAN, SMALLEST_MEAN


def items_profile(
    mean: float,
    send_probability: float,
    set_size: int,
    num_items: int,
    delta: float,
    times: int = 1,
) -> CountsProfile:
    """Returns upper and lower bounds for exact Poisson counts.

    Args:
        mean: H m / d, honest blanket messages per item.
        send_probability: lambda, in [0, 1].
        set_size: s, the most items that the target user may hold.
        num_items: d, at least 2.
        delta: About the size of the divergence that is asked for.
        times: In how many collections the same people take part.
    """
    number_between("blanket messages per item", mean, SMALLEST_MEAN, LARGEST_MEAN)
    return CountsProfile.of_groups(
        [(num_items, set_size, PoissonNoise(mean))],
        send_probability,
        delta=delta,
        times=times,
    )
