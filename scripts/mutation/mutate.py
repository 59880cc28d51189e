"""Measures the tests by mutants: small mistakes, each in a copy of src of its own.

Mutants are chosen at random in the folders given. Each is met by the tests that call the
function it is in, fastest first, then by the rest of their files, until one fails. Which
test calls what is noted in build/mutate when its file is first seen, or has changed.

A mutant that no test can tell from the source belongs into the list of equivalent ones,
with the reason; an entry that fits no mutant is an error. Exit code 1: more survivors than
accepted; 2: nothing could be measured.
"""

import argparse
import difflib
import hashlib
import itertools
import json
import signal
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import pytest
from called_functions import Calls, Chosen, Noted
from forked_copies import Job, copied, run
from mutants import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[2]
NOTES = ROOT / "build" / "mutate"
# Files of tests that share a process while calls are noted.
_TOGETHER = 8
EQUIVALENT = Path(__file__).with_name("equivalent.toml")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/mutate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("folders", nargs="+", type=Path, help="in src, or files there")
    add("--tests", nargs="+", type=Path, help="default: the same folders of tests/")
    add("--number", type=int, default=50, help="of mutants (%(default)s)")
    add("--seed", type=int, default=0, help="which ones (%(default)s)")
    add("--workers", type=int, default=1, help="mutants at once (%(default)s)")
    add("--limit", type=float, default=90, help="seconds for each (%(default)s)")
    add("--results", type=Path, help="keeps what became of each; goes on from there")
    add("--again", action="store_true", help="meet survivors in the results once more")
    add("--accept", type=float, default=0.05, help="share of survivors (%(default)s)")
    return parser.parse_args()


def fail(message: str) -> NoReturn:
    print(f"scripts/mutate: {message}", file=sys.stderr)
    sys.exit(2)


def files_in(paths: Iterable[Path], pattern: str) -> list[str]:
    found = set[str]()
    for path in paths:
        whole = (Path.cwd() / path).resolve()
        if not whole.exists():
            fail(f"expected a folder or file, got {path}")
        files = whole.rglob(pattern) if whole.is_dir() else [whole]
        found.update(str(file.relative_to(ROOT)) for file in files)
    return sorted(found)


def tests_of(folders: Iterable[Path]) -> list[Path]:
    """The folder of tests with the same name, or the nearest above; and docstrings."""
    found = list[Path]()
    for path in files_in(folders, "*.py"):
        # Of services/src/shuffledp_services/wire: services/tests/wire, or services/tests.
        parts = Path(path).parent.parts
        source = parts.index("src")
        test = Path(*parts[:source], "tests", *parts[source + 2 :])
        while not (ROOT / test).is_dir():
            test = test.parent
        found += [ROOT / test]
        if ">>> " in (ROOT / path).read_text():
            found.append(ROOT / path)
    return found


def met_by(files: list[str], plugin: object) -> int:
    """Exit code of pytest: 0 only if every test passed."""
    # The same examples every time.
    options = ("-q", "--tb=no", "-p", "no:cacheprovider", "--hypothesis-profile=ci")
    more = ("-m", "not slow") if isinstance(plugin, Calls) else ("-x",)
    return int(pytest.main([*options, *more, *files], plugins=[plugin]))


def noted(files: list[str], copies: list[Path], limit: float) -> list[Noted]:
    """Returns what each file's tests call, from notes or from running them once."""
    NOTES.mkdir(parents=True, exist_ok=True)
    paths = dict[str, Path]()
    for file in files:
        digest = hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:12]
        paths[file] = NOTES / f"{file.replace('/', '.')}.{digest}.json"

    def write(file: str, found: Noted) -> None:
        part = paths[file].with_suffix(".part")
        part.write_text(json.dumps(asdict(found)))
        part.rename(paths[file])

    new = [file for file, path in paths.items() if not path.exists()]
    jobs = list[Job]()
    for start in range(0, len(new), _TOGETHER):
        part = new[start : start + _TOGETHER]

        def act(place: Path, part: list[str] = part) -> int:
            return met_by(part, Calls(place, write))

        def finish(
            _: Path, code: int | None, took: float, part: list[str] = part
        ) -> None:
            for file in part:
                if paths[file].exists():
                    print(f"noted what {file} calls", flush=True)
                else:
                    print(f"left out, nothing passes in time: {file}", flush=True)

        jobs.append((act, finish))
    run(jobs, copies, limit)
    known = [path for path in paths.values() if path.exists()]
    return [Noted(**json.loads(path.read_text())) for path in known]


def tests_for(mutant: Mutant, notes: list[Noted], budget: float) -> list[str]:
    """Tests that call the function, then others of their files, for so many seconds."""
    callers, others = list[tuple[float, list[str]]](), list[tuple[float, list[str]]]()
    seconds = dict[str, float]()
    for file in notes:
        near = file.callers(mutant.path, mutant.function)
        if near is not None:
            seconds |= file.seconds
            rest = [test for test in file.seconds if test not in set(near)]
            callers.append((sum(map(seconds.__getitem__, near)), near))
            others.append((sum(map(seconds.__getitem__, rest)), rest))
    chosen = list[str]()
    for _, tests in sorted(callers) + sorted(others):
        for test in tests:
            if seconds[test] <= budget:
                budget -= seconds[test]
                chosen.append(test)
    return chosen


def explained(mutants: Callable[[str], list[Mutant]]) -> dict[str, str]:
    """Returns names of equivalent mutants with the reason."""
    found = dict[str, str]()
    for entry in tomllib.loads(EQUIVALENT.read_text()).get("mutant", []):
        where = (entry["path"], entry["function"], entry["before"], entry["after"])
        there = (ROOT / entry["path"]).exists()
        same = [
            mutant
            for mutant in (mutants(entry["path"]) if there else [])
            if (mutant.path, mutant.function, mutant.before, mutant.after) == where
        ]
        if not same or not entry["reason"]:
            fail(f"{EQUIVALENT.name}: no mutant, or no reason: {' '.join(where)}")
        found |= {mutant.name: entry["reason"] for mutant in same}
    return found


def meeting(
    mutant: Mutant, tests: list[str], keep: Callable[[str, dict[str, str]], None]
) -> Job:
    source = (ROOT / mutant.path).read_bytes()
    wrong = source[: mutant.start] + mutant.text.encode() + source[mutant.end :]
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))

    def act(place: Path) -> int:
        (place / mutant.path).write_bytes(wrong)
        (place / "killer.txt").write_text("it cannot be imported")
        return met_by(files, Chosen(tests, place / "killer.txt")) if tests else 0

    def finish(place: Path, code: int | None, took: float) -> None:
        (place / mutant.path).write_bytes(source)
        killer = (place / "killer.txt").read_text()
        if code == 0:
            outcome, killer = "survived", f"{len(tests)} tests pass"
        else:
            outcome = "late" if code is None else "killed"
        changed = difflib.unified_diff(
            source.decode().splitlines(), wrong.decode().splitlines(),
            mutant.path, f"{mutant.path} ({mutant.function})", n=2, lineterm="",
        )  # fmt: skip
        diff = "\n".join(changed)
        said = f"{outcome}, {took:.0f} s: {mutant.name}\n    {killer}"
        keep(
            said, {"name": mutant.name, "outcome": outcome, "by": killer, "diff": diff}
        )

    return act, finish


def main() -> None:
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    known = dict[str, list[Mutant]]()

    def mutants(path: str) -> list[Mutant]:
        if path not in known:
            known[path] = mutants_of(ROOT, path)
        return known[path]

    reasons = explained(mutants)
    found = [each for path in files_in(given.folders, "*.py") for each in mutants(path)]
    found.sort(key=lambda mutant: mutant.rank(given.seed))
    results = dict[str, dict[str, str]]()
    if given.results and given.results.exists():
        lines = given.results.read_text().splitlines()
        results = {entry["name"]: entry for entry in map(json.loads, lines)}
    if given.again:
        known_survivors = {n for n, e in results.items() if e["outcome"] == "survived"}
        chosen = [mutant for mutant in found if mutant.name in known_survivors]
    else:
        chosen = found[: given.number]
    todo = [
        mutant
        for mutant in chosen
        if mutant.name not in reasons and (given.again or mutant.name not in results)
    ]
    print(f"{len(found)} mutants, {len(chosen)} chosen, {len(todo)} to do", flush=True)

    done = itertools.count(1)

    def keep(said: str, entry: dict[str, str]) -> None:
        print(f"{next(done)} of {len(todo)}: {said}", flush=True)
        results[entry["name"]] = entry
        if given.results:
            with given.results.open("a") as file:
                file.write(json.dumps(entry) + "\n")

    with tempfile.TemporaryDirectory(prefix="mutate-") as work:
        copies = [copied(ROOT, Path(work, str(each))) for each in range(given.workers)]
        files = files_in(given.tests or tests_of(given.folders), "test_*.py")
        notes = noted(files, copies, 4 * given.limit) if todo else []
        budget = given.limit / 3
        run(
            (meeting(each, tests_for(each, notes, budget), keep) for each in todo),
            copies,
            given.limit,
        )
    judge(chosen, results, reasons, given.accept)


def judge(
    chosen: list[Mutant],
    results: dict[str, dict[str, str]],
    reasons: dict[str, str],
    accept: float,
) -> None:
    """Prints what survived, and the share; ends with the exit code."""
    met = [results[each.name] for each in chosen if each.name not in reasons]
    survivors = [entry for entry in met if entry["outcome"] == "survived"]
    for entry in survivors:
        print(f"\n{entry['diff']}")
    if not met:
        fail("expected mutants that are not explained, got none")
    share = len(survivors) / len(met)
    late = sum(entry["outcome"] == "late" for entry in met)
    print(
        f"\n{len(chosen)} mutants, {len(chosen) - len(met)} of them equivalent; of "
        f"{len(met)}, {len(met) - len(survivors)} killed ({late} by the time limit): "
        f"{1 - share:.1%}"
    )
    sys.exit(int(share > accept))


if __name__ == "__main__":
    main()
