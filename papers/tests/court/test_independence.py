"""Attacks share no code with what they are compared with: seen from their imports."""

import ast
import importlib.util
from pathlib import Path

import pytest

PACKAGE = "shuffledp_papers.court"
# Those that compute laws and divergences; cases are built and judged by the others.
ATTACKS = (
    "additive",
    "attacks",
    "count_attack",
    "enumeration",
    "item_attack",
    "noise_cells",
    "worlds",
)


def imported(module: str) -> set[str]:
    """Modules of this repository that a module names in its import statements."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module is not None
            found.add(node.module)
            # A name may be a module, too.
            found |= {
                f"{node.module}.{alias.name}"
                for alias in node.names
                if node.module.startswith("shuffledp")
                and importlib.util.find_spec(node.module).submodule_search_locations  # type: ignore[union-attr]
                and importlib.util.find_spec(f"{node.module}.{alias.name}")
            }
    return {name for name in found if name.startswith("shuffledp")}


def reached_from(module: str) -> set[str]:
    """All modules of this repository that are imported, and those that they import."""
    reached: set[str] = set()
    waiting = {module}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= imported(name) - reached
    return reached


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_reaches_attacks_and_types_only(attack: str) -> None:
    reached = reached_from(f"{PACKAGE}.{attack}")

    allowed = {f"{PACKAGE}.{name}" for name in ATTACKS} | {"shuffledp.types"}
    assert reached <= allowed


def test_the_walk_finds_the_accountant_where_it_is_imported() -> None:
    reached = reached_from(f"{PACKAGE}.case_registry")

    assert "shuffledp.accounting.account" in reached
    assert any(name.startswith("shuffledp.randomizers.") for name in reached)
