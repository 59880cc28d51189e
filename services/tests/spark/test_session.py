"""Sessions of Spark, one after another in one process."""

import pytest

pytest.importorskip("pyspark", reason="Needs the extra spark.")

from spark_frames import CONNECT, started

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.mark.few_cases(0)
def test_a_session_of_either_kind_may_follow_one_of_the_other() -> None:
    for url in (CONNECT, "local[2]", CONNECT):
        with started(url) as spark:
            assert spark.range(3).count() == 3
