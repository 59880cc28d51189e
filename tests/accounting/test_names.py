"""One name, one thing: no two public classes of the accountant are called alike."""

import ast
from collections import Counter
from pathlib import Path

import shuffledp
from shuffledp.accounting.bounds_at import TargetUsers
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.lower.score_attack import ScoreIntegrand
from shuffledp.accounting.rounds.composition import LossIntegrand
from shuffledp.accounting.upper.blanket_population import BlanketPopulation
from shuffledp.accounting.upper.integrals.contour_integrand import ContourIntegrand

FOLDER = Path(shuffledp.__file__).parent / "accounting"


def test_no_two_public_classes_have_one_name() -> None:
    names = Counter(
        node.name
        for path in FOLDER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert [name for name, times in names.items() if times > 1] == []
    known = (TargetUsers, Promise, BlanketPopulation)
    integrands = (ContourIntegrand, LossIntegrand, ScoreIntegrand)
    assert {kind.__name__ for kind in (*known, *integrands)} <= set(names)
