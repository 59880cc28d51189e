"""The shuffler's database is lost, and the task goes on as the documents say."""

import asyncio
import time
from pathlib import Path

import pytest
from live_collection import (
    deliver,
    estimate_of_one_value,
    one_value_epoch,
    operate,
    people_of,
    status_of,
    task_for,
)
from live_services import pair
from service_parties import published_values

from shuffledp_services.wire.command import Action


@pytest.mark.slow
def test_a_task_goes_on_after_its_shuffler_lost_everything(tmp_path: Path) -> None:
    who = task_for("frequency")
    shuffler, analyst = pair(who, tmp_path)
    third = people_of(who, 3)

    async def before() -> None:
        await one_value_epoch(shuffler, analyst, people_of(who, 1), 1)
        await operate(shuffler, Action.NEXT, lambda now: now["epoch"] == 2)
        await deliver(shuffler, people_of(who, 2).part(0, 30))

    async def after() -> None:
        assert (await status_of(shuffler))["epoch"] == 1
        await operate(shuffler, Action.RESUME, lambda now: now["epoch"] == 3)
        result = await one_value_epoch(shuffler, analyst, third, 3)
        status = await status_of(analyst)
        first, lost, last = status["epochs"]
        assert published_values(result) == estimate_of_one_value(who, third, 3)
        assert (lost["phase"], lost["spent"]) == ("skipped", [0.0] * 3)
        assert status["spent"] == pytest.approx(
            [a + b for a, b in zip(first["spent"], last["spent"], strict=True)]
        )

    with shuffler, analyst:
        asyncio.run(before())
        for path in tmp_path.glob("shuffler.db*"):
            path.unlink()
        shuffler.kill()
        while not shuffler.deaths:
            time.sleep(0.01)
        shuffler.wait()
        asyncio.run(after())
