"""The machine-checked proofs are those that Coq has accepted: `scripts/check-proofs`."""

import hashlib
import re
from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[1] / "proofs"

pytestmark = pytest.mark.skipif(not PROOFS.is_dir(), reason="proofs/ is not here")


def stamp() -> dict[str, str]:
    lines = (PROOFS / "CHECKED").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def test_sources_are_those_that_were_checked() -> None:
    sources = sorted(PROOFS.glob("*.v"))

    # What `sha256sum *.v | sha256sum` prints.
    listing = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sources
    )

    assert stamp()["sources"] == hashlib.sha256(listing.encode()).hexdigest()


def test_no_proof_has_a_gap() -> None:
    gap = re.compile(r"\b(Admitted|admit|Axioms?|Parameters?|Conjectures?|Abort)\b")

    for path in PROOFS.glob("*.v"):
        assert gap.findall(path.read_text(encoding="utf-8")) == [], path.name


def test_every_theorem_was_checked_and_rests_on_no_axiom() -> None:
    statements = (PROOFS / "Statements.v").read_text(encoding="utf-8")
    theorems = re.findall(r"^Theorem (\w+)", statements, flags=re.MULTILINE)

    checked = stamp()

    assert set(checked) == {"sources", "coq", *theorems}
    assert {checked[name] for name in theorems} == {"Closed under the global context"}


def contents() -> dict[str, list[str]]:
    """Returns the theorems of each page, as the head of Statements.v lists them."""
    statements = (PROOFS / "Statements.v").read_text(encoding="utf-8")
    listed = re.search(r"\(\*\* Contents:.*?\*\)", statements, flags=re.DOTALL)
    assert listed is not None
    pages: dict[str, list[str]] = {}
    for line in listed[0].splitlines():
        if page := re.fullmatch(r"    (\S+\.md)", line):
            pages[page[1]] = []
        elif theorem := re.match(r"      (\w+) ", line):
            pages[[*pages][-1]].append(theorem[1])
    return pages


def test_contents_list_every_theorem_once() -> None:
    listed = [theorem for theorems in contents().values() for theorem in theorems]

    assert sorted(listed) == sorted(set(stamp()) - {"sources", "coq"})


def test_pages_name_their_theorems_and_no_others() -> None:
    theory, theorems = PROOFS.parent / "docs" / "theory", set(stamp())

    for name, listed in contents().items():
        text = (theory / name).read_text(encoding="utf-8")
        # Names of the library have this form, too.
        named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+|composition)`", text))

        assert set(listed) <= named, name
        assert named & theorems == set(listed), name


def test_documentation_names_every_theorem() -> None:
    page = PROOFS.parent / "docs" / "theory" / "machine-checked.md"
    named = set(re.findall(r"`(\w+)`", page.read_text(encoding="utf-8")))

    assert set(stamp()) - {"sources", "coq"} <= named
