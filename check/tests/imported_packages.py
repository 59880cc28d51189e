"""Packages outside the standard library that a program imports."""

import ast
import sys


def imported_packages(text: str) -> set[str]:
    """Returns the names of packages that a program imports, or parts of which."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").partition(".")[0])
    return modules - set(sys.stdlib_module_names)
