"""Withdrawn cases, each with the reason.

Their arithmetic was right, but the paper does not state the claim that was checked. They
count neither as violated nor as standing, and are not run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from shuffledp_papers.toml_tables import read_table


class WithdrawalReason(StrEnum):
    """Reason that a case says nothing about its paper.

    Attributes:
        MISPRINT: A misprint was tried; the statement as meant is not violated.
        INFERENCE: The claim that was tried is inferred here, and not stated there.
        ASYMPTOTIC: A statement with an unknown constant C > 0 was tried at C = 0.
        PRECONDITIONS: The attack is about another setting than the statement.
        OUTPUT: The attack sees more than the algorithm of the statement outputs.
        CORRECTED: The authors have corrected the version that was tried.
    """

    MISPRINT = "misprint"
    INFERENCE = "our inference"
    ASYMPTOTIC = "asymptotic statement tried at C = 0"
    PRECONDITIONS = "preconditions not met"
    OUTPUT = "other output"
    CORRECTED = "corrected by its authors"


@dataclass(frozen=True)
class Withdrawal:
    """Cases that are withdrawn together.

    Attributes:
        cases: Names of the cases.
        claim: Authors, year and number of the statement.
        reason: The kind of reason.
        explanation: The reason, in full.
    """

    cases: tuple[str, ...]
    claim: str
    reason: WithdrawalReason
    explanation: str

    def sentence(self, name: str) -> str:
        """Returns the message for a user who selects one of the cases."""
        # The name may be typed in lower case; the message has it as printed.
        (known,) = (each for each in self.cases if each.lower() == name.lower())
        return (
            f"{known} is withdrawn ({self.reason}). Claim: {self.claim}. "
            f"{self.explanation}"
        )

    def rows(self, name: str | None = None) -> list[Mapping[str, str]]:
        """Returns one record for each case, or for one of them, for machines."""
        return [
            {
                "case": case,
                "claim": self.claim,
                "reason": str(self.reason),
                "explanation": self.explanation,
            }
            for case in self.cases
            if name is None or case.lower() == name.lower()
        ]


@dataclass(frozen=True)
class _WithdrawalsTable:
    rows: tuple[Withdrawal, ...]


WITHDRAWN = read_table(_WithdrawalsTable, "court", "withdrawn.toml").rows


def withdrawal_of(name: str) -> Withdrawal | None:
    """Returns the withdrawal of a case, or None if it is not withdrawn."""
    for withdrawal in WITHDRAWN:
        if name.lower() in {each.lower() for each in withdrawal.cases}:
            return withdrawal
    return None


def withdrawn_names() -> list[str]:
    """Returns the names of all withdrawn cases."""
    return [name for withdrawal in WITHDRAWN for name in withdrawal.cases]
