"""Where code names a statistic or a mechanism; docstrings and comments do not count."""

import ast
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

_COMMENT = re.compile(r"/\*.*?\*/|(?:^|\s)//[^\n]*", re.DOTALL | re.MULTILINE)


def named_in(path: Path, names: Iterable[str], folder: str = "") -> list[str]:
    """Returns each place at which a file names one of these.

    Args:
        path: Of Python, JavaScript, TypeScript or HTML.
        names: Of statistics, or of mechanisms.
        folder: Of modules that are called as these, such as "shuffledp.statistics"; an
            import of one names it, too.
    """
    text, known = path.read_text(encoding="utf-8"), set(names)
    if path.suffix == ".py":
        return list(_named_in_python(text, known, folder))
    if path.suffix == ".html":
        page = _Page()
        page.feed(text)
        return [value for value in page.values if value in known]
    code = _COMMENT.sub("", text)
    return [
        match[0]
        for match in re.finditer(r"[\"'`]([\w-]+)[\"'`]|(\w+)(?=:)", code)
        if {match[1], match[2]} & known
    ]


def _named_in_python(text: str, known: set[str], folder: str) -> Iterable[str]:
    modules = {f"{folder}.{name.replace('-', '_')}" for name in known} if folder else ()
    # A name with a hyphen is no other word: a sentence may hold it, too.
    hyphened = "|".join(re.escape(name) for name in known if "-" in name)
    in_sentence = re.compile(rf"(?<![\w-])(?:{hyphened or '(?!)'})(?![\w-])")
    tree = ast.parse(text)
    docstrings = _docstrings(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(value)) if value in known or in_sentence.search(
                value
            ):
                if node not in docstrings:
                    yield f"{node.lineno}: {value!r}"
            case ast.ImportFrom(module=str(module)):
                if any(f"{module}.".startswith(f"{name}.") for name in modules):
                    yield f"{node.lineno}: {module}"


def _docstrings(tree: ast.AST) -> set[ast.AST]:
    return {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        )
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.values: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.values += [value for _, value in attrs if value]


def sources(root: Path) -> list[Path]:
    """Returns the files of code below a folder: none installed, and none bundled."""
    return sorted(
        path
        for path in root.rglob("*")
        if path.suffix in {".py", ".js", ".ts", ".mjs", ".html"}
        and not {"node_modules", "built"} & set(path.parts)
    )
