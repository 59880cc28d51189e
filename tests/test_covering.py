"""The core suite sees every value of a parameter, and `--all` every combination."""

import itertools

from covering import covering

LETTERS, NUMBERS, PAIRS = "abcde", [1, 2, 3], [(True, 0.5), (False, 0.1)]


def test_every_value_occurs_in_the_core_suite_and_every_combination_somewhere() -> None:
    names, cases = covering(
        ("letter", LETTERS), ("number", NUMBERS), (("flag", "share"), PAIRS)
    ).args

    everything = [case.values for case in cases]
    core = [case.values for case in cases if not case.marks]
    assert names == ["letter", "number", "flag", "share"]
    assert everything == [
        (letter, number, *pair)
        for letter, number, pair in itertools.product(LETTERS, NUMBERS, PAIRS)
    ]
    assert len(core) == 5
    assert {letter for letter, *_ in core} == set(LETTERS)
    assert {number for _, number, *_ in core} == set(NUMBERS)
    assert {(flag, share) for _, _, flag, share in core} == set(PAIRS)
    assert {mark.name for case in cases for mark in case.marks} == {"slow"}


def test_values_that_come_around_together_do_not_always_meet() -> None:
    _, cases = covering(("long", range(4)), ("short", [0, 1]), ("other", [0, 1])).args

    core = [case.values for case in cases if not case.marks]
    assert {(short, other) for _, short, other in core} == {
        (0, 0), (0, 1), (1, 0), (1, 1),
    }  # fmt: skip
