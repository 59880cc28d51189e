"""Tables of an audit's findings, as `serve demo` and `audit collection` print them."""

import pytest

from shuffledp.cli.console import show
from shuffledp_services.commands.evidence_table import findings
from shuffledp_services.evidence.evidence import AuditFinding, EpochFindings, EpochTest


def test_brackets_of_a_sentence_have_no_backslashes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    epoch_findings = EpochFindings(
        1,
        tuple(
            AuditFinding.not_tested(test, sentence="Not [yet] seen.")
            for test in EpochTest
        ),
    )

    show(findings(epoch_findings))

    shown = capsys.readouterr().out
    assert shown.count("Not [yet] seen.") == len(EpochTest)
