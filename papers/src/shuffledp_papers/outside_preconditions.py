"""The error of published theorems that do not apply."""

from shuffledp.errors import InvalidInputError


class OutsidePreconditions(InvalidInputError):  # noqa: N818
    """A published bound was evaluated outside the preconditions of its theorem.

    >>> import shuffledp as sdp
    >>> from shuffledp_papers.bounds.bound import Setting
    >>> from shuffledp_papers.bounds.published_bounds import published_bound
    >>> bound = published_bound("feldman2021-closed")
    >>> setting = Setting(sdp.Population.from_counts({3.0: 100}))
    >>> bound.epsilon(setting, delta=1e-6)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    shuffledp_papers.outside_preconditions.OutsidePreconditions: Expected ..., got 3.
    """
