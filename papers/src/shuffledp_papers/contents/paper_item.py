"""One algorithm, theorem, table or figure of a paper, and its state in this library."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum

from shuffledp.errors import InvalidInputError


class State(StrEnum):
    """State of an item in this library.

    Attributes:
        REPRODUCED: The paper's numbers are reproduced.
        DIFFERS: The numbers differ; `why` gives the reason, or that it is unknown.
        REFUTED: A claim check shows that it is false under every reading.
        HOLDS: It is right, with the errata named, and tested.
        TRIED: It runs in this library; there is nothing of the paper to compare with, and
            `why` names the missing part.
        IMPOSSIBLE: It cannot be done; `why` gives the reason.
    """

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    REFUTED = "refuted"
    HOLDS = "holds"
    TRIED = "tried"
    IMPOSSIBLE = "impossible"


# A statement that is judged needs no numbers of the paper.
SETTLED = State.REPRODUCED, State.REFUTED, State.HOLDS


class Missing(StrEnum):
    """What a paper would have to have, so that an item of it could be reproduced.

    Attributes:
        DIGITS: It prints no number, or too few digits of it.
        SETTINGS: Parameters of the computation are not printed.
        CONSTANT: Its statement has a constant that it does not name.
        STATEMENT: It is a definition, an algorithm, a picture or a remark, and states
            nothing that could be compared.
        PROOF: Its statement is neither proven nor refuted.
        NOTHING: All is printed; what is found is something else.
    """

    DIGITS = "printed digits"
    SETTINGS = "printed settings"
    CONSTANT = "the paper's constant"
    STATEMENT = "a statement to check"
    PROOF = "a proof"
    NOTHING = "nothing"


@dataclass(frozen=True)
class PaperItem:
    """One item of a paper.

    Attributes:
        place: Such as "Theorem 3" or "Figure 4".
        what: One sentence about it.
        state: Its state; None if that follows from the numbers of `result`.
        result: Name of the experiment that computes it, or "".
        cases: Names of cases of the court about it.
        where: A command, or the public name in Python, that runs it.
        missing: What the paper lacks to be reproduced here; None of a settled state.
        why: Errata, or the reason of differences.
    """

    place: str
    what: str
    _: KW_ONLY
    state: State | None = None
    result: str = ""
    cases: tuple[str, ...] = ()
    where: str = ""
    missing: Missing | None = None
    why: str = ""

    def __post_init__(self) -> None:
        # The page derives a missing state from the numbers of a result.
        if self.state is None and not self.result:
            raise InvalidInputError(f"Expected a state or a result of {self.place}.")
        unsettled = self.state is not None and self.state not in SETTLED
        if unsettled and not (self.why and self.missing):
            raise InvalidInputError(
                f"Expected why {self.place} is {self.state}, and what is missing."
            )
        if self.state in SETTLED and self.missing:
            raise InvalidInputError(f"Expected nothing missing of {self.place}.")
        if self.state is State.REFUTED and not (self.cases or self.why):
            raise InvalidInputError(f"Expected what refutes {self.place}.")
