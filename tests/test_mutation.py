"""What `scripts/mutate` changes: one thing at a time, and always to what can be parsed."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = '''"""Words -1 are left alone."""
LEAST = 2.5


class Box:
    def inside(self, low, high: "1") -> "2":
        if low < 3 and high:
            raise ValueError(f"{low} < {high}")
        check(low, high)
        return np.nextafter(low, -np.inf) + max(high, 0)
'''
WRONG = {
    ("", "LEAST = (-2.5)"),
    ("Box.inside", "if low <= 3 and high:"),
    ("Box.inside", "if low < 4 and high:"),
    ("Box.inside", "if low < 2 and high:"),
    ("Box.inside", "if (low < 3 or high):"),
    ("Box.inside", "if (not (low < 3 and high)):"),
    ("Box.inside", "pass"),
    ("Box.inside", "check(high, low)"),
    ("Box.inside", "return np.nextafter(-np.inf, low) + max(high, 0)"),
    ("Box.inside", "return np.nextafter(low, (np.inf)) + max(high, 0)"),
    ("Box.inside", "return (np.nextafter(low, -np.inf) - max(high, 0))"),
    ("Box.inside", "return np.nextafter(low, -np.inf) + min(high, 0)"),
    ("Box.inside", "return np.nextafter(low, -np.inf) + max(high, 1)"),
    ("Box.inside", "return np.nextafter(low, -np.inf) + max(high, -1)"),
}


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts" / "mutation")


def test_mutants_are_these(tmp_path: Path) -> None:
    from mutants import mutants_of

    (tmp_path / "box.py").write_text(SOURCE)
    found = mutants_of(tmp_path, "box.py")
    assert {(mutant.function, mutant.after) for mutant in found} == WRONG
    # `raise` and the check are left out, each for itself.
    assert len(found) == len(WRONG) + 1
    assert len({mutant.name for mutant in found}) == len(found)
    for mutant in found:
        wrong = SOURCE[: mutant.start] + mutant.text + SOURCE[mutant.end :]
        assert ast.dump(ast.parse(wrong)) != ast.dump(ast.parse(SOURCE))


def test_same_lines_are_told_apart(tmp_path: Path) -> None:
    from mutants import mutants_of

    (tmp_path / "twice.py").write_text("def f():\n    g(1)\n    g(1)\n")
    names = [mutant.name for mutant in mutants_of(tmp_path, "twice.py")]
    assert len(names) == len(set(names)) == 6


def test_functions_belong_to_their_tests() -> None:
    from called_functions import Noted

    called = {"x.py::f": ["b"], "x.py::C.m": ["a"], "y.py::f": ["a", "b"]}
    file = Noted({"a": 1.0, "b": 2.0}, called, ["z.py::f"])

    assert file.callers("x.py", "f") == ["b"]
    assert file.callers("x.py", "C") == ["a"]
    assert file.callers("x.py", "") == ["a", "b"]
    assert file.callers("z.py", "f") == []
    assert file.callers("z.py", "g") is None


@pytest.mark.slow
def test_explained_mutants_are_those_of_the_source() -> None:
    from mutants import mutants_of

    listed = ROOT / "scripts" / "mutation" / "equivalent.toml"
    for entry in tomllib.loads(listed.read_text())["mutant"]:
        if not (ROOT / Path(entry["path"]).parts[0]).is_dir():
            # The source distribution of the library alone.
            continue
        found = {
            (m.function, m.before, m.after) for m in mutants_of(ROOT, entry["path"])
        }

        # Where a name has changed, the list follows.
        assert (entry["function"], entry["before"], entry["after"]) in found
        assert entry["reason"]
