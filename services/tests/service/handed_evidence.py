"""Evidence that an auditor might hand to an analyst."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analyst_parties import Parties

from shuffledp_services.analyst.auditor_evidence import EvidenceFile
from shuffledp_services.evidence.evidence import (
    AuditFinding,
    EpochFindings,
    EpochTest,
    Evidence,
)

SENTENCE = "Canaries came out in the order in which they were sent."


def evidence(task: str, p_values: Sequence[float]) -> Evidence:
    """One epoch for each p-value of the order; nothing else was looked at."""
    found = Evidence(task)
    for epoch, p_value in enumerate(p_values, start=1):
        not_tested = {
            check: AuditFinding.not_tested(check, sentence="Nothing was shown.")
            for check in EpochTest
        }
        order = AuditFinding.of_p_value(EpochTest.ORDER, p_value, sentence=SENTENCE)
        findings = {**not_tested, EpochTest.ORDER: order}
        found = found.with_epoch(EpochFindings(epoch, tuple(findings.values())))
    return found


def showing(
    who: Parties, folder: Path, content: str | bytes, auditor: str = "The union"
) -> Parties:
    """An analyst who shows a file."""
    path = folder / "evidence.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    shown = EvidenceFile(path, auditor)
    return replace(who, hosted=replace(who.hosted, evidence=shown))
