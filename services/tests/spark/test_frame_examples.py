"""Examples in docstrings of frames, on a frame."""

import doctest
from collections.abc import Iterator

import pytest

pytest.importorskip("pyspark", reason="Needs the extra spark.")

import numpy as np
import polars as pl
from pyspark.sql import DataFrame
from spark_frames import framed, started

from shuffledp_services import spark as frames

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

# What opens a batch needs one: `test_open_and_tally` has them.
NAMES = sorted(set(frames.__all__) - {"open_and_tally"})


@pytest.fixture(scope="module")
def frame() -> Iterator[DataFrame]:
    people = {
        "person": np.arange(10_000),
        "answer": np.arange(10_000) % 17,
        "epsilon": np.repeat([1.0, 2.0], 5_000),
    }
    with started() as session:
        yield framed(session, pl.DataFrame(people))


@pytest.mark.parametrize("name", NAMES)
def test_examples_of_frames_are_true(frame: DataFrame, name: str) -> None:
    (test,) = doctest.DocTestFinder(recurse=False).find(
        getattr(frames, name), name, globs={"frame": frame}
    )
    for example in test.examples:
        example.options.pop(doctest.SKIP, None)

    result = doctest.DocTestRunner().run(test)

    assert result.attempted == len(test.examples) > 1
    assert result.failed == 0
