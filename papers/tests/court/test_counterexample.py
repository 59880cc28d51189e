"""Programs of five lines: that they run alone, say what the bounds say, and are small."""

import ast
import math
import subprocess
import sys
from pathlib import Path

import pytest

import shuffledp as sdp
import shuffledp_papers
from shuffledp_papers.court.case import CourtVerdict, judge
from shuffledp_papers.court.case_registry import all_cases, case_named
from shuffledp_papers.court.small.counterexample import COUNTEREXAMPLES, Counterexample
from shuffledp_papers.court.small.program import Program
from shuffledp_papers.court.small.programs import PROGRAMS, program_of
from shuffledp_papers.court.small.shrink import printed, smallest

# Searches of more than a second.
LONG = {"V4-small"}
# Cases whose programs are about themselves.
ALREADY_SMALL = [
    "V2",
    "V6",
    "V6-3",
    "V10",
    "V14",
    "V15",
    "V16",
    "V18",
    "V18-2",
    "V19",
    "V22",
    "V23",
    "V24",
    "V25",
    "V26",
]
# Programs of one example, with nothing to vary.
WITHOUT_NUMBERS = ("V6-3", "V14", "V24")
# Their claims, or attacks, are sums in another order, or on another grid.
ROUGHLY = {"V2": 1e-3, "V15": 1e-3, "V16": 1e-4, "V23": 1e-3, "V25": 1e-4}


@pytest.mark.few_cases(9)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_shows_in_five_lines_that_a_claim_falls(name: str) -> None:
    text = PROGRAMS[name].text

    claimed, exact = printed(text)

    assert claimed < exact
    assert len(text.splitlines()) == 5
    assert max(map(len, text.splitlines())) <= 92


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_needs_nothing_but_numpy_and_scipy(name: str) -> None:
    nodes = list(ast.walk(ast.parse(PROGRAMS[name].text)))
    imported = {
        alias.name.split(".")[0]
        for node in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
    } | {
        str(node.module).split(".")[0]
        for node in nodes
        if isinstance(node, ast.ImportFrom)
    }

    assert imported <= {"math", "numpy", "scipy"}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_in_a_process_of_its_own(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAMS[name].text],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )

    claimed, exact = (float(word) for word in done.stdout.split())
    assert claimed < exact
    assert not done.stderr


def test_all_programs_are_of_a_claim_and_nearly_all_have_numbers_to_change() -> None:
    folder = Path(shuffledp_papers.__file__).parent / "court" / "programs"
    texts = {path.read_text(encoding="utf-8") for path in folder.glob("[a-z]*.py")}

    assert texts == {program.text for program in PROGRAMS.values()}
    for name, program in PROGRAMS.items():
        assert bool(program.numbers) == (name not in WITHOUT_NUMBERS)
        assert program.with_numbers(program.numbers) == program.text


@pytest.mark.slow
@pytest.mark.parametrize("small", COUNTEREXAMPLES, ids=lambda small: str(small.name))
def test_programs_and_published_bounds_state_the_same(small: Counterexample) -> None:
    ruling = judge(small.case)
    claimed, exact = printed(small.program.text)

    assert ruling.claimed == pytest.approx(claimed, rel=1e-6)
    assert ruling.verdict is CourtVerdict.VIOLATED
    assert ruling.certificate_holds
    # A program counts one event; the attack of the court looks for the best one, on a
    # grid of them; and nothing reaches beyond what is certified.
    assert exact <= 1.001 * ruling.exact
    assert exact <= (math.inf if ruling.certified is None else ruling.certified)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", ALREADY_SMALL)
def test_programs_of_cases_that_are_small_already_are_about_them(name: str) -> None:
    ruling = judge(case_named(name))
    claimed, exact = printed(PROGRAMS[name].text)

    # The court counts messages beyond edges of a grid.
    room = ROUGHLY.get(name, 1e-6)
    assert claimed == pytest.approx(ruling.claimed, rel=room)
    assert exact == pytest.approx(ruling.exact, rel=room)


@pytest.mark.parametrize(
    "small",
    [
        pytest.param(
            small, id=small.name, marks=pytest.mark.slow if small.name in LONG else ()
        )
        for small in COUNTEREXAMPLES
    ],
)
def test_the_search_finds_these_numbers(small: Counterexample) -> None:
    assert dict(smallest(small)) == pytest.approx(dict(small.program.numbers))


def test_the_search_passes_over_what_is_not_claimed_and_says_if_nothing_falls() -> None:
    # The first program is wrong about the bound; the second never falls.
    (small,) = (each for each in COUNTEREXAMPLES if each.name == "V10b-small")
    wrong = Program("k, b, e = 4, 3, 2.5\nprint(0.123, 1.0)\n")
    never = Program("k, b, e = 4, 3, 2.5\nprint(1.0, 0.5)\n")

    for program in (wrong, never):
        with pytest.raises(sdp.InvalidInputError, match="V10b-small falls"):
            smallest(Counterexample(small.name, program, small.build, small.choices))


def test_every_claim_that_falls_has_a_program_and_no_other_has() -> None:
    for case in all_cases():
        if case.expected is CourtVerdict.VIOLATED:
            assert program_of(case.name) in PROGRAMS.values()
        else:
            with pytest.raises(sdp.InvalidInputError, match="claim that falls"):
                program_of(case.name)
    names = {case.name for case in all_cases()}
    assert set(PROGRAMS) <= names | {name.split("-")[0] for name in names}
