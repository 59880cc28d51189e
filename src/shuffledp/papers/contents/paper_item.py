"""One algorithm, theorem, table or figure of a paper, and what became of it here."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum

from shuffledp.errors import InvalidInputError


class State(StrEnum):
    """What became of it.

    Attributes:
        REPRODUCED: The paper's numbers are found again.
        DIFFERS: Other numbers are found; `why` says why, or that it is not known.
        REFUTED: A case of the court shows that it is false as stated.
        HOLDS: It is right, with the errata named, and tested.
        TRIED: It runs here; there is nothing of the paper to compare with.
        IMPOSSIBLE: It cannot be had; `why` says why.
    """

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    REFUTED = "refuted"
    HOLDS = "holds"
    TRIED = "tried"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class PaperItem:
    """One item of a paper.

    Attributes:
        place: Such as "Theorem 3" or "Figure 4".
        what: One sentence about it.
        state: What became of it; None if that follows from the numbers of `result`.
        result: Name of the experiment that computes it, or "".
        cases: Names of cases of the court about it.
        where: A command, or the public name in Python, that runs it.
        why: Errata; what differs and why.
    """

    place: str
    what: str
    _: KW_ONLY
    state: State | None = None
    result: str = ""
    cases: tuple[str, ...] = ()
    where: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if self.state is None and not self.result:
            raise InvalidInputError(f"Expected a state or a result of {self.place}.")
        if self.state in (State.DIFFERS, State.IMPOSSIBLE) and not self.why:
            raise InvalidInputError(f"Expected why {self.place} is {self.state}.")
        if self.state is State.REFUTED and not (self.cases or self.why):
            raise InvalidInputError(f"Expected what refutes {self.place}.")
