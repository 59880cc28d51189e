"""The modules that a file imports, anywhere in it."""

import ast
from pathlib import Path


def imported_modules(path: Path) -> set[str]:
    """Returns `a.b.c` for `import a.b.c` and for `from a.b import c`."""
    modules = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"Expected absolute imports in {path}."
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return modules


def rooms_imported(folder: Path, package: str) -> set[str]:
    """Returns the names right below a package that the files of a folder import from."""
    modules = set().union(*(imported_modules(path) for path in folder.rglob("*.py")))
    return {name.split(".")[1] for name in modules if name.startswith(f"{package}.")}


def in_order(edges: dict[str, set[str]]) -> set[str]:
    """Returns the names that are part of no cycle and lead to none."""
    settled: set[str] = set()
    while ready := {name for name in edges if edges[name] <= settled} - settled:
        settled |= ready
    return settled
