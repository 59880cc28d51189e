"""Register of claims: the statement as printed, how it is read here, and the verdict.

Each paper's claims are a table beside its code. A verdict is about one reading; only
statements that are false under every reading are counted as refuted. A statement with an
unnamed constant is refuted by a family of populations that no constant covers, or not. An
error that several statements share is counted once: the others name the statement that has
it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from shuffledp.errors import InvalidInputError
from shuffledp_papers.toml_tables import read_rows

_NONE = "none"
_NO_ERRATA = "none known"


class ClaimVerdict(StrEnum):
    """Verdict on a statement, under the reading that is named beside it.

    Attributes:
        FALSE: No reading that was found makes it true.
        SLIP: False as printed; true, or not contradicted, as evidently meant.
        EVALUATED: Our evaluation is false: a constant or an inference of ours.
        WITHDRAWN: The authors have corrected or withdrawn it.
        ASYMPTOTIC: Its constant is not named, and a family shows that none works.
        HOLDS: No case contradicts it. That proves nothing.
    """

    FALSE = "false under every reading"
    SLIP = "false as printed, a slip"
    EVALUATED = "false as evaluated by us"
    WITHDRAWN = "withdrawn by its authors"
    ASYMPTOTIC = "asymptotic: no constant works"
    HOLDS = "holds where tried"


@dataclass(frozen=True)
class Correction:
    """What the authors have published about a statement later.

    Attributes:
        version: The later version, and what of it was read.
        numbers: Numbers of the statements that it is about, as in the version read here.
        text: Its content; the words are ours.
    """

    version: str
    numbers: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        named = f", of {', '.join(self.numbers)}" if self.numbers else ""
        return f"{self.version}{named}: {self.text}"


@dataclass(frozen=True)
class StatedClaim:
    """One statement of a paper.

    Attributes:
        name: Such as "apes-theorem-4".
        paper: Authors and year.
        version: The version that was read.
        place: Number of the theorem or equation.
        statement: Its formulas as printed; the words are ours.
        preconditions: Conditions of the statement.
        adversary: Description of an attacker's view.
        neighbors: How the two data sets differ.
        reading: The reading that the cases try.
        charitable: The reading that is best for the authors, with its outcome.
        verdict: The verdict.
        why: The reason for the verdict.
        constants: Constants that are not named; "none" if there are none.
        errata: The authors' own corrections.
        falls_with: Names of the statements whose error is this one's, too: it rests on
            them, or repeats them. It is not counted beside them.
        cases: Names of the cases that try it.
        earlier: Names of cases that were tried once and are no longer run.
    """

    name: str
    paper: str
    version: str
    place: str
    statement: tuple[str, ...]
    preconditions: str
    adversary: str
    neighbors: str
    reading: str
    charitable: str
    verdict: ClaimVerdict
    why: str
    constants: str = _NONE
    errata: tuple[Correction, ...] = ()
    falls_with: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        open_constant = self.constants != _NONE
        if self.verdict is ClaimVerdict.FALSE and (open_constant or not self.cases):
            raise InvalidInputError(
                f"Expected cases and no open constant of {self.name}, which is "
                f"{self.verdict}."
            )
        if self.verdict is ClaimVerdict.ASYMPTOTIC and not (
            open_constant and self.cases
        ):
            raise InvalidInputError(
                f"Expected the constant of {self.name} and a family that no value covers."
            )
        if self.verdict is ClaimVerdict.WITHDRAWN and not any(
            each.numbers for each in self.errata
        ):
            raise InvalidInputError(f"Expected the errata that withdraw {self.name}.")
        if self.verdict is ClaimVerdict.HOLDS and self.falls_with:
            raise InvalidInputError(f"Expected that {self.name} falls, as others do.")

    @property
    def source(self) -> str:
        """Authors, year and number of the statement."""
        return f"{self.paper}, {self.place}"

    @property
    def record(self) -> tuple[tuple[str, str], ...]:
        """Headings and texts of the whole record, in the order in which it is shown."""
        return (
            ("statement", "; ".join(self.statement)),
            ("version", self.version),
            ("preconditions", self.preconditions),
            ("constants", self.constants),
            ("reading", self.reading),
            ("adversary", self.adversary),
            ("neighbors", self.neighbors),
            ("most charitable reading", self.charitable),
            ("authors' errata", "; ".join(map(str, self.errata)) or _NO_ERRATA),
            ("falls with", ", ".join(self.falls_with) or _NONE),
            ("verdict", str(self.verdict)),
            ("why", self.why),
        )

    @property
    def comment(self) -> str:
        """Comment above a program: verdict, reading and adversary."""
        return (
            f"# {self.source}: {self.verdict}\n"
            f"# Reading: {self.reading}\n"
            f"# Adversary: {self.adversary}\n"
        )


CLAIMS = tuple(
    claim
    for folder in ("eapes", "apes", "hypothesis_testing", "segmented", "bounds")
    for claim in read_rows(StatedClaim, folder, "claims.toml")
)


def claims_of(case: str) -> tuple[StatedClaim, ...]:
    """Returns the claims that a case is about, the one that it evaluates first.

    Raises:
        InvalidInputError: If there is none.
    """
    claims = tuple(
        claim
        for claim in CLAIMS
        if case.lower() in {name.lower() for name in (*claim.cases, *claim.earlier)}
    )
    if not claims:
        raise InvalidInputError(f"Expected a case of the register, got {case!r}.")
    return claims


def claim_named(name: str) -> StatedClaim:
    """Returns the claim of this name.

    Raises:
        InvalidInputError: If there is none.
    """
    for claim in CLAIMS:
        if claim.name == name:
            return claim
    raise InvalidInputError(f"Expected a claim of the register, got {name!r}.")


def counts_of_verdicts(claims: Sequence[StatedClaim] = CLAIMS) -> dict[str, int]:
    """Returns the number of claims with each verdict, zeros included.

    Claims that fall with another one are left out: their error is counted there.
    """
    verdicts = [claim.verdict for claim in claims if not claim.falls_with]
    return {str(verdict): verdicts.count(verdict) for verdict in ClaimVerdict}


def refutations(claims: Sequence[StatedClaim] = CLAIMS) -> str:
    """Returns a sentence on the refuted errors, and the statements that have them."""
    errors = counts_of_verdicts(claims)[str(ClaimVerdict.FALSE)]
    false = sum(claim.verdict is ClaimVerdict.FALSE for claim in claims)
    return (
        f"{errors} errors are refuted: {false} of {len(claims)} statements, of which "
        f"{false - errors} fall with another one, are {ClaimVerdict.FALSE}."
    )


def dependents(claims: Sequence[StatedClaim] = CLAIMS) -> list[StatedClaim]:
    """Returns the claims that fall with another one."""
    return [claim for claim in claims if claim.falls_with]


def earlier_names() -> list[str]:
    """Returns the names of all cases that are no longer run."""
    return [name for claim in CLAIMS for name in claim.earlier]
