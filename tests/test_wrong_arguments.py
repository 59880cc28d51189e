"""Arguments and records of a wrong kind raise the library's own exceptions, everywhere."""

import copy
import inspect
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from public_calls import AcceptedError
from public_question_calls import all_calls

import shuffledp as sdp
from shuffledp.errors import InvalidInputError
from shuffledp.public_names import MODULES
from shuffledp.statistics.statistic_catalog import protocol_of

CALLS = all_calls()
WRONG: list[Any] = [None, "x", 1.5, math.nan, [], ["x"], {}, object()]
CASES = [(name, key) for name, known in CALLS.items() for key in known.arguments]
# Called by the library itself, with what it has checked: noises and randomizers by the
# accountant, promises by calibrations, the others by estimates. `Rehearsed` writes files.
OWN = ("covers", "certified", "kept")
OWN_NAMES = {
    "DistributionEstimate.of",
    "GroupMeanEstimate.of",
    "HashedChoiceEstimate.of",
    "KeyedRandom.permutation",
    "Mean.count",
    "MeanEstimate.in_units",
    "Rehearsed",
    "Rehearsed.report",
    "UnlistedStringsEstimate.of",
}
SLOW = {"plan_unlisted_strings", "to_pld"}


def public_callables() -> Iterator[str]:
    """Yields names of public functions, classes, and methods that take arguments."""
    for name in MODULES:
        public = getattr(sdp, name)
        if inspect.isclass(public) and issubclass(public, Exception):
            continue
        yield name
        if not inspect.isclass(public) or any(hasattr(public, own) for own in OWN):
            continue
        for method, function in inspect.getmembers(public, callable):
            takes = (
                not method.startswith("_") and inspect.signature(function).parameters
            )
            if takes and set(takes) != {"self"}:
                yield f"{name}.{method}"


def test_every_public_callable_is_called() -> None:
    assert set(public_callables()) - OWN_NAMES <= set(CALLS)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
        for name in CALLS
    ],
)
def test_a_right_call_is_accepted(name: str) -> None:
    function, arguments = CALLS[name]
    try:
        function(**arguments)
    except AcceptedError:
        assert name.startswith("plan_")


@pytest.mark.parametrize(("name", "key"), CASES)
def test_an_argument_of_a_wrong_kind_raises_a_library_error(
    name: str, key: str
) -> None:
    function, arguments = CALLS[name]
    for wrong in WRONG:
        if wrong is arguments[key]:
            continue
        try:
            function(**{**arguments, key: wrong})
        except (sdp.ShuffledpError, AcceptedError):
            # Some of these are right, such as None or a number.
            continue
        except Exception as error:
            pytest.fail(f"{name}({key}={wrong!r:.20}) raised {error!r}")


def forgeries(record: Any) -> Iterator[Any]:
    """Yields copies of a record with one entry replaced, left out or added."""
    entries = record.items() if isinstance(record, dict) else enumerate(record)
    for key, value in list(entries):
        changed = [*WRONG[:-1], -1, True, 10**30]
        if isinstance(value, dict | list):
            changed += forgeries(value)
        for entry in changed:
            forged = copy.copy(record)
            forged[key] = entry
            yield forged
        fewer = copy.copy(record)
        del fewer[key]
        yield fewer
    if isinstance(record, dict):
        yield record | {"more": 1}


@pytest.mark.parametrize("name", [n for n in CALLS if n.endswith(".from_record")])
def test_a_forged_record_raises_a_library_error(name: str) -> None:
    function, arguments = CALLS[name]
    (record,) = (arguments[key] for key in arguments if key == "record")

    for forged in forgeries(record):
        try:
            function(record=forged)
        except sdp.ShuffledpError:
            continue
        except Exception as error:
            pytest.fail(f"{name} of {forged} raised {error!r}")


def test_a_forged_protocol_is_refused_in_a_sentence() -> None:
    record = sdp.Mean(0, 1).identity.record
    del record["parameters"]["low"]

    with pytest.raises(sdp.DataError, match="Expected a protocol with low, high"):
        protocol_of(sdp.Identity.from_record(record))


@pytest.mark.parametrize(
    ("values", "kind"),
    [([1.0, 2.0], "numbers with decimals"), ([True, False], "truth values")],
)
def test_arrays_of_another_type_are_told_which(values: list[Any], kind: str) -> None:
    with pytest.raises(InvalidInputError, match=f"flat list of integers, got {kind}"):
        sdp.Frequency(3).randomize(values, [1.0, 1.0], rng=np.random.default_rng(1))


def test_a_list_of_nothing_is_no_protocol() -> None:
    people = sdp.Population.from_counts({1.0: 10})

    with pytest.raises(InvalidInputError, match="got NoneType"):
        sdp.account([None], people, delta=1e-6)  # type: ignore[list-item]
