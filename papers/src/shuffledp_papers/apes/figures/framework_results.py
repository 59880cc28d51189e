"""Results of frameworks in Tables 3 and 4: guarantees and accuracy of one training."""

import math
from dataclasses import dataclass

from shuffledp.federated.training_guarantee import TrainingGuarantee
from shuffledp.types import Floats
from shuffledp_papers.apes.figures.framework_training import Training
from shuffledp_papers.apes.figures.training_cells import NAMES, standard_error
from shuffledp_papers.apes.printed import ACCURACIES, DISTRIBUTIONS
from shuffledp_papers.apes.stated_training import PublishedEpsilons
from shuffledp_papers.figures.table import Cell


@dataclass(frozen=True)
class FrameworkResult:
    """A framework under one distribution of budgets.

    Attributes:
        training: The training.
        round_promise: Certified for one round.
        promise: Certified for all rounds.
        round_stated: The paper's statement for one round.
        stated: The paper's statement for all rounds.
        accuracy: In percent, shape (repetitions,).
        printed_epsilon: Of one user in one round, as printed; None if there is none.
    """

    training: Training
    round_promise: TrainingGuarantee
    promise: TrainingGuarantee
    round_stated: PublishedEpsilons
    stated: PublishedEpsilons
    accuracy: Floats
    printed_epsilon: str | None

    @property
    def distribution(self) -> str:
        """The distribution of budgets, without the name of the paper."""
        return self.training.setting.distribution.split("/")[1]

    @property
    def label(self) -> str:
        """The name in the legend, with a mark on epsilons that are local only."""
        central = self.promise.central is not None
        return NAMES[self.training.framework] + ("" if central else " (local)")

    @property
    def epsilon(self) -> float | None:
        """The certified epsilon of one user's whole training; local if not central."""
        if self.promise.central is not None:
            return self.promise.central.worst.epsilon_central
        return _local(self.promise)

    @property
    def printed_accuracy(self) -> float | None:
        """The accuracy in Table 4, in percent; None for frameworks that are ours."""
        name, index = self.training.framework, DISTRIBUTIONS.index(self.distribution)
        return float(ACCURACIES[name][index]) if name in ACCURACIES else None

    def record(self) -> dict[str, Cell]:
        """Returns the row of the table."""
        least, most = _ends(self.round_promise)
        printed = self.printed_epsilon
        one_round, training = _attack(self.round_promise), _attack(self.promise)
        return {
            "distribution": self.distribution,
            "framework": NAMES[self.training.framework],
            "local, least": least,
            "local, most": most,
            **_flagged(
                "coordinate, stated",
                self.round_stated.coordinate,
                _coordinate_attack(self.round_promise),
            ),
            "coordinate, certified": _coordinate(self.round_promise),
            "round, printed": None if printed is None else float(printed),
            **_flagged("round, stated", self.round_stated.user, one_round),
            "round, certified": _central(self.round_promise),
            **_flagged("training, stated", self.stated.user, training),
            "training, certified": _central(self.promise),
            "training, local": _local(self.promise),
            "accuracy": float(self.accuracy.mean()),
            "standard error": standard_error(self.accuracy),
            "accuracy, printed": self.printed_accuracy,
        }


def _ends(promise: TrainingGuarantee) -> tuple[float, float]:
    """Returns d epsilon of one round, at the smallest and at the largest budget."""
    # Without a local guarantee messages are not private.
    if promise.local is None:
        return math.inf, math.inf
    levels = promise.local.levels
    return levels[0].epsilon_sum, levels[-1].epsilon_sum


def _central(promise: TrainingGuarantee) -> float | None:
    return None if promise.central is None else promise.central.worst.epsilon_central


def _local(promise: TrainingGuarantee) -> float | None:
    return None if promise.local is None else promise.local.worst.epsilon_all


def _coordinate(promise: TrainingGuarantee) -> float | None:
    """Returns one coordinate's epsilon, of the user with the largest user epsilon."""
    central = promise.central
    if central is None:
        return None
    # `also[0]` is the guarantee of one coordinate, level by level.
    return central.also[0].levels[central.levels.index(central.worst)].epsilon_central


def _coordinate_attack(promise: TrainingGuarantee) -> float:
    levels = () if promise.central is None else promise.central.also[0].levels
    return max((level.epsilon_central_lower for level in levels), default=0.0)


def _attack(promise: TrainingGuarantee) -> float:
    levels = () if promise.central is None else promise.central.levels
    return max((level.epsilon_central_lower for level in levels), default=0.0)


def _flagged(name: str, number: float | None, attack: float) -> dict[str, Cell]:
    """Returns a stated epsilon, and whether an attack refutes it."""
    # Below a proven lower bound, the statement is false.
    return {
        name: number,
        f"{name}: exceeded": None if number is None else number < attack,
    }
