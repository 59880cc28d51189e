"""Collections of several epochs in which much goes wrong, even if no service is killed.

    finished   epochs are closed
    skipped    one is skipped, while people still answer
    deadline   a step ends by itself: it is closed, or waits until its epoch is skipped
    lost       the shuffler's database is lost, and it resumes
    refused    the analyst refuses a batch, and its epoch is skipped
    unpaid     the allowance pays for one epoch: no other begins

Afterwards an account is made of everything that was confirmed to somebody.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from live_collection import fetched, operate, status_of, until
from random_operator import Operator, let_go, over, past

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.wire.command import Action

Plot = Literal["finished", "skipped", "deadline", "lost", "refused", "unpaid"]
PLOTS: tuple[Plot, ...] = get_args(Plot)

_JUDGED = ("published", "withheld")


@dataclass(frozen=True)
class Account:
    """What became of all reports of a collection.

    Attributes:
        reports: That were confirmed.
        dropped: Of these, in epochs that were skipped.
        lost: Of these, neither dropped nor in what was published.
        doubled: Reports of people who have another one in the same result.
        missing: Epochs that were delivered, and whose cost is not in the ledger.
        wrong: What else is wrong; empty if every published number is that of the protocol
            in one process.
    """

    reports: int
    dropped: int
    lost: int
    doubled: int
    missing: int
    wrong: str


class Collection:
    """A task's epochs, one after the other.

    Args:
        operator: Whose task it is.
        lose: Empties the shuffler's database, while it is down.
        rng: The operator's coins.
    """

    def __init__(
        self,
        operator: Operator,
        *,
        lose: Callable[[], None],
        rng: np.random.Generator,
    ) -> None:
        self._operator, self._lose, self._rng = operator, lose, rng
        self._shuffler, self._analyst = operator.shuffler, operator.analyst
        self._stages, self._settled = operator.stages, Counter[int]()

    async def play(self, plot: Plot) -> None:
        """Goes through a plot.

        Raises:
            AssertionError: If something else happens than may.
        """
        plots = {
            "finished": self._finish,
            "skipped": self._skip,
            "deadline": self._deadline,
            "lost": self._lose_all,
            "refused": self._refuse,
        }
        epoch = 1
        if plot == "unpaid":
            await self._finish(epoch)
            # She would say so, too.
            with self._analyst.down():
                await self._operator.is_over()
            return
        if plot == "lost" or self._coin():
            await self._finish(epoch)
            epoch = await self._operator.next(epoch)
        epoch = await plots[plot](epoch)
        if epoch in self._operator.delivered | self._operator.skipped:
            epoch = await self._operator.next(epoch)
        await self._finish(epoch)

    async def account(self) -> Account:
        """Compares what devices know with what was published, and with the ledger."""
        last = max(self._operator.delivered)
        done = await until(
            self._analyst,
            lambda now: now["epoch"] == last and now["phase"] in _JUDGED,
        )
        wrong, total = list[str](), np.zeros(len(done["spent"]))
        entries = {entry["epoch"]: entry for entry in done["epochs"]}
        missing = len(self._operator.delivered - set(entries))
        if list(entries) != list(range(1, last + 1)):
            wrong.append(f"the ledger has epochs {list(entries)}")
        for epoch, entry in entries.items():
            spent, skipped = np.array(entry["spent"]), entry["phase"] == "skipped"
            total += spent
            missing += epoch in self._operator.delivered and not (spent > 0.0).all()
            if skipped and epoch not in self._operator.delivered and not spent.any():
                self._operator.drop(epoch)
            elif entry["phase"] != "published" or epoch in self._operator.skipped:
                wrong.append(f"epoch {epoch} is {entry}")
            elif epoch not in self._settled:
                wrong.append(await self._settle(epoch, entry["spent"]))
        if not np.allclose(total, done["spent"], rtol=1e-12, atol=0.0):
            wrong.append(f"{done['spent']} was spent, not {total}")
        return Account(
            reports=self._settled.total() + self._operator.dropped,
            dropped=self._operator.dropped,
            lost=self._operator.lost,
            doubled=self._operator.doubled,
            missing=missing,
            wrong="; ".join(filter(None, wrong)),
        )

    async def _settle(self, epoch: int, spent: list[float]) -> str:
        """Accounts for a published epoch; returns what is wrong with it."""
        path = f"/epochs/{epoch}"
        result = (await fetched(self._analyst, path)).json()
        listed = (await fetched(self._analyst, f"{path}/messages")).content
        told = self._operator.witness.compare(result, listed)
        self._operator.lost, self._operator.doubled = (
            self._operator.lost + told.lost,
            self._operator.doubled + told.doubled,
        )
        self._settled[epoch] = sum(
            self._operator.witness.forget(epoch, stage) for stage in self._stages
        )
        costs = [] if result["spent"] == spent else [f"it cost {result['spent']}"]
        said = "; ".join(filter(None, [told.wrong, *costs]))
        return said and f"epoch {epoch}: {said}"

    # What happens in an epoch. Each returns the epoch that it ended with.

    async def _finish(self, epoch: int) -> int:
        """Everybody answers, and it is closed."""
        await (await self._operator.collect(epoch))
        await self._operator.close(epoch, self._stages[-1])
        return await self._operator.ends(epoch, "delivered")

    async def _skip(self, epoch: int) -> int:
        """It is skipped, while people still answer."""
        stage = self._any_stage()
        sending = await self._operator.collect(epoch, stage, heard=self._rng.random())
        await operate(self._shuffler, Action.SKIP, over(epoch))
        await let_go(sending)
        return await self._operator.ends(epoch, "skipped")

    async def _deadline(self, epoch: int) -> int:
        """A step ends by itself: it is closed, or waits until its epoch is skipped."""
        stage, share = self._any_stage(), 1.0 if self._coin() else 0.5
        # Where choices are made first, all are heard: a plan for fewer may be none.
        early = len(self._stages) == 1 and self._coin()
        sending = await self._operator.collect(
            epoch, stage, share, heard=0.0 if early else 1.0
        )
        await self._operator.set_deadline(epoch, stage)
        now = await until(self._shuffler, past(epoch, stage))
        if now["phase"] == "open":
            # Choices are closed, and there is a plan.
            await sending
            await self._operator.close(epoch, self._stages[-1])
            return await self._operator.ends(epoch, "delivered")
        await let_go(sending)
        if now["phase"] == "waiting":
            await operate(self._shuffler, Action.SKIP, over(epoch))
        return await self._operator.ends(epoch, "delivered", "skipped")

    async def _lose_all(self, epoch: int) -> int:
        """The shuffler's database is lost; returns the epoch that begins then."""
        stage, closed = self._any_stage(), self._coin()
        sending = await self._operator.collect(epoch, stage, 1.0 if closed else 0.5)
        if closed:
            await self._operator.close(epoch, stage)
        with self._shuffler.down():
            self._lose()
        await let_go(sending)
        assert (await status_of(self._shuffler))["epoch"] == 1
        perhaps = closed and stage is self._stages[-1]
        if not perhaps:
            self._operator.drop(epoch)
            self._operator.skipped.add(epoch)
        if not closed and self._coin():
            # Nobody noticed: people answer an epoch that the analyst has.
            await self._answer_again()
            assert await self._operator.next(1) == epoch
            await operate(self._shuffler, Action.SKIP, over(epoch))
            return epoch
        await operate(self._shuffler, Action.RESUME, lambda now: now["epoch"] > epoch)
        begun = int((await status_of(self._shuffler))["epoch"])
        # She may have had the batch; the epoch that she waited for then is skipped.
        assert begun - epoch in ((1, 2) if perhaps else (1,))
        self._operator.skipped |= set(range(epoch + 1, begun))
        return begun

    async def _answer_again(self) -> None:
        """The first epoch is collected a second time, and refused."""
        [entry] = (await until(self._analyst, lambda now: now["epochs"]))["epochs"]
        wrong = await self._settle(1, entry["spent"])
        assert not wrong, wrong
        sending = await self._operator.collect(1, self._stages[0])
        await self._operator.close(1, self._stages[0])
        await self._operator.skip_refused(1, "already-delivered")
        self._operator.drop(1)
        await let_go(sending)

    async def _refuse(self, epoch: int) -> int:
        """The analyst's service runs without the task for a while."""
        stage, known = self._any_stage(), self._analyst.setup
        sending = await self._operator.collect(epoch, stage)
        with self._analyst.down():
            self._analyst.setup = replace(known, hosts=False)
        await self._operator.close(epoch, stage)
        await self._operator.skip_refused(epoch, "unknown-task")
        await let_go(sending)
        with self._analyst.down():
            self._analyst.setup = known
        return await self._operator.ends(epoch, "skipped")

    def _any_stage(self) -> EpochStage:
        return self._stages[int(self._rng.integers(len(self._stages)))]

    def _coin(self) -> bool:
        return bool(self._rng.random() < 0.5)
