"""Mutants: copies of a source file with one small mistake each."""

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
}  # fmt: skip
_OTHER = {
    "min": "max", "minimum": "maximum", "argmin": "argmax", "fmin": "fmax",
    "floor": "ceil", "any": "all",
}  # fmt: skip
_OTHER |= {other: name for name, other in _OTHER.items()}
# Their arguments may be swapped, or must not be.
_UNORDERED = {*_OTHER, "isinstance", "issubclass", "getattr", "hasattr", "zip", "cast"}


@dataclass(frozen=True)
class Mutant:
    """One mistake: what stands between two places of a file's bytes becomes a text.

    Attributes:
        path: Of the file, from the root of the project.
        function: Its qualified name, or of the class; empty for neither.
        before: The lines it is on, without indentation.
        after: The same lines with the mistake.
        repeated: How many mutants of the function before it look the same.
        start: The first byte that is replaced.
        end: The byte after the last one.
        text: What takes their place.
    """

    path: str
    function: str
    before: str
    after: str
    repeated: int
    start: int
    end: int
    text: str

    @property
    def name(self) -> str:
        """The same for as long as function and line stay as they are."""
        place = f" ({self.repeated + 1})" if self.repeated else ""
        return f"{self.path}::{self.function}: {self.before}  ->  {self.after}{place}"

    def rank(self, seed: int) -> str:
        """Returns where it stands in a random order that other files do not change."""
        return hashlib.sha256(f"{seed} {self.name}".encode()).hexdigest()


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """Returns all mutants of a file."""
    source = (root / path).read_bytes()
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    alike = Counter[tuple[str, str, str]]()
    found = []
    for function, node, text in _replacements(ast.parse(source), ""):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        first, last = starts[node.lineno - 1], starts[node.end_lineno]
        before = _joined(source[first:last])
        after = _joined(source[first:start] + text.encode() + source[end:last])
        if before != after:
            repeated = alike[function, before, after]
            alike[function, before, after] += 1
            found.append(
                Mutant(path, function, before, after, repeated, start, end, text)
            )
    return found


def _joined(code: bytes) -> str:
    return " ".join(line.strip() for line in code.decode().splitlines())


Replacement = tuple[str, ast.expr | ast.stmt, str]


def _replacements(node: ast.AST, function: str) -> Iterator[Replacement]:
    """Yields mistakes in a node and below: where, and what takes the node's place."""
    if isinstance(node, ast.Raise):
        yield function, node, "pass"
        return  # Nobody tests what errors say to the last comma.
    if isinstance(node, ast.JoinedStr):
        return  # Python 3.11 does not know where its parts are.
    if isinstance(node, ast.expr):
        for text in _expressions(node):
            yield function, node, text
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield function, node, "pass"
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield function, node.test, f"(not ({ast.unparse(node.test)}))"
    if isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield function, test, f"(not ({ast.unparse(test)}))"
    inside = function
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        inside = f"{function}.{node.name}" if function else node.name
    for field, value in ast.iter_fields(node):
        # Types, and how long things are remembered.
        if field not in ("annotation", "returns", "decorator_list", "bases"):
            for child in value if isinstance(value, list) else [value]:
                # `-inf` loses its sign; another one would give the same.
                signed = isinstance(node, ast.UnaryOp) and _is_infinite(child)
                if isinstance(child, ast.AST) and not signed:
                    yield from _replacements(child, inside)


def _expressions(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int(value)):
            yield str(value + 1)
            yield str(value - 1)
        case ast.Constant(value=float(value)):
            yield f"(-{value!r})" if value else "1.0"
        case ast.Attribute() if _is_infinite(node):
            yield f"(-{ast.unparse(node)})"
        case ast.Compare(ops=operators):
            for place, operator in enumerate(operators):
                other = copy.deepcopy(node)
                other.ops[place] = _COMPARED[type(operator)]()
                yield ast.unparse(other)
        case ast.BinOp(left=left, op=computed, right=right) if (
            type(computed) in _COMPUTED
        ):
            if not any(_is_text(side) for side in (left, right)):
                other_sum = ast.BinOp(left, _COMPUTED[type(computed)](), right)
                yield f"({ast.unparse(other_sum)})"
        case ast.BoolOp(op=both, values=values):
            other_op = ast.Or() if isinstance(both, ast.And) else ast.And()
            yield f"({ast.unparse(ast.BoolOp(other_op, values))})"
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.Call():
            yield from _calls(node)
        case _:
            pass


def _calls(node: ast.Call) -> Iterator[str]:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in _OTHER:
        other = copy.deepcopy(node)
        setattr(
            other.func, "attr" if hasattr(node.func, "attr") else "id", _OTHER[name]
        )
        yield ast.unparse(other)
    if name in _UNORDERED or any(isinstance(each, ast.Starred) for each in node.args):
        return
    for place in range(len(node.args) - 1):
        other = copy.deepcopy(node)
        pair = other.args[place : place + 2]
        other.args[place : place + 2] = pair[::-1]
        if ast.unparse(other) != ast.unparse(node):
            yield ast.unparse(other)


def _is_infinite(node: object) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "inf"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
