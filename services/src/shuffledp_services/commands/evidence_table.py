"""Tables of the findings of a collection's audit."""

from rich.console import RenderableType
from rich.table import Table

from shuffledp_services.evidence.evidence import EpochFindings, Evidence
from shuffledp_services.evidence.evidence_text import e_value_text, p_value_text


def findings(epoch_findings: EpochFindings) -> Table:
    """Returns the tests of an epoch, a row each."""
    table = Table(title=f"Epoch {epoch_findings.epoch:,}: what became of the canaries")
    table.add_column("test")
    table.add_column("chance of a false alarm", justify="right")
    table.add_column("e-value", justify="right")
    table.add_column("what was seen")
    for finding in epoch_findings.findings:
        table.add_row(
            str(finding.test),
            p_value_text(finding.p_value),
            e_value_text(finding.e_value),
            finding.sentence,
        )
    return table


def course(evidence: Evidence) -> tuple[RenderableType, ...]:
    """Returns the e-values of all epochs, a row each, and the verdict."""
    table = Table(title="e-values of all epochs")
    for title in ("epoch", "of this epoch", "running"):
        table.add_column(title, justify="right")
    for epoch, running in zip(evidence.epochs, evidence.running, strict=True):
        table.add_row(
            f"{epoch.epoch:,}", e_value_text(epoch.e_value), e_value_text(running)
        )
    return table, f"Verdict: {evidence.sentence}"
