"""A loss on as few of its values as the bound at one epsilon can do with."""

from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.accounting.upper.fewer_atoms import fewer_atoms
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.saddle_estimate import rough_saddle

# The sum of fewer losses is as smooth as they are, and fewer values of them save nothing.
_MANY_MESSAGES = 30.0


def few_of(loss: Atoms, log_g: LogProduct) -> Atoms:
    """Returns the loss on few of its values, if these save work.

    Args:
        loss: The target user's.
        log_g: log G(1 + x), of the other people.
    """
    if float(log_g.probabilities @ log_g.counts) < _MANY_MESSAGES:
        return loss
    return few_at_saddle(loss, log_g)


def few_at_saddle(loss: Atoms, log_g: LogProduct) -> Atoms:
    """Returns the loss on few of its values, for the moment that decides on the bound.

    Args:
        loss: See `few_of`, as for what follows.
        log_g: Likewise.
    """
    tilt = rough_saddle(loss, log_g.probabilities, log_g.counts)
    return fewer_atoms(loss, tilt, float(log_g.probabilities @ log_g.counts))
