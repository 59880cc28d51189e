"""Whole-number weights of two kinds of messages in a sum of scores."""

from fractions import Fraction

from shuffledp.types import Floats, Ints

# In larger populations some user sends a rare message.
FEW_PEOPLE = 300
# The score of a rare message, at most.
_FINEST = 16


def whole_weights(less: Floats, more: Floats, people: Ints) -> tuple[int, int]:
    """Returns scores in inverse proportion to two variances, in small whole numbers.

    Args:
        less: Each user's part in that of the rarer kind, by level, shape (levels,).
        more: To that of the other, at least as much.
        people: How many chose each level, shape (levels,).
    """
    share = Fraction(float(less @ people) / float(more @ people))
    share = share.limit_denominator(_FINEST)
    if people.sum() <= FEW_PEOPLE:
        # All users may send only frequent messages: these must keep a weight.
        share = max(share, Fraction(1, _FINEST))
    return share.denominator, share.numerator
