"""Epsilons at which a slow evaluator was of no use: near them, it is not tried again."""


class FailedTrials:
    """What came of a slow evaluator at each epsilon where it was tried.

    It mostly fails from some epsilon on. Where it fails at the nearest smaller epsilon,
    and at the nearest larger one, if any was tried, it is taken to fail between them, too:
    another bound serves there, which holds as well.
    """

    def __init__(self) -> None:
        self._failed: dict[float, bool] = {}

    def add(self, epsilon: float, *, failed: bool) -> None:
        """Adds what came of a trial."""
        self._failed[epsilon] = failed

    def surround(self, epsilon: float) -> bool:
        """Returns whether trials failed on both sides."""
        # At 0 losses may be multiples of one number, and their sums are never smooth: it
        # says nothing of others.
        below = [each for each in self._failed if 0.0 < each <= epsilon]
        above = [each for each in self._failed if each > epsilon]
        if not below or not self._failed[max(below)]:
            return False
        return not above or self._failed[min(above)]
