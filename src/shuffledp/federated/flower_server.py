"""A Flower strategy that shuffles what the devices send, averages it, and keeps account.

    strategy = ShuffledAveraging(randomizer, certify, server_rate=0.5, min_clients=100)
    strategy.start(grid, ArrayRecord([weights]), num_rounds=20)
    strategy.guarantee.to_dict()

Devices run `RandomizeUpdate` (flower_client.py) with the same randomizer.

**Trust.** A Flower server knows which device sent which message: this strategy is shuffler
and analyst in one process. It forgets senders before it computes anything, so the model
and its metrics carry the central guarantee towards everybody who sees only them. Towards
whoever runs the server, people have their local guarantee only. For the central one to
hold towards the analyst, too, a shuffler that others run must stand between the devices
and the server, and pass on `ShuffledVectors` only.

Source of the protocol: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors",
Algorithm 1.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.flower_client import CELLS, LEVEL
from shuffledp.federated.flower_extra import (
    FedAvg,
    flat_weights,
    require_flower,
    shaped_weights,
)
from shuffledp.federated.guarantees import TrainingGuarantee
from shuffledp.federated.round import ShuffledVectors, VectorRandomizer, shuffle_vectors
from shuffledp.population import MAX_BUDGET, Population
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomness import Rng, SystemRandom, check_rng
from shuffledp.types import Ints

if TYPE_CHECKING:
    from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
    from flwr.serverapp import Grid


class Certify(Protocol):
    """Says what a training guarantees; the framework and its parameters are settled."""

    def __call__(
        self, people: Population, *, coordinates: int, rounds: int
    ) -> TrainingGuarantee:
        """Returns the guarantee of everybody after so many rounds."""
        ...


class ShuffledAveraging(FedAvg):
    """Federated averaging of updates that were randomized on the devices and shuffled.

    All connected devices train in every round; there is no evaluation on devices, as its
    results would be computed from people's data without noise. Pass an `evaluate_fn` with
    public test data to `start` instead.

    Replies that are errors, or not of the agreed form, count as no reply.
    """

    def __init__(
        self,
        randomizer: VectorRandomizer,
        certify: Certify,
        *,
        server_rate: float,
        min_clients: int,
        certify_every: int = 1,
        messages: range = range(STEPS),
        rng: Rng | None = None,
    ) -> None:
        """Keeps public parameters.

        Args:
            randomizer: The one of the devices.
            certify: `certify_training` with the framework of the randomizer filled in,
                as in `partial(certify_training, "apes", clip=1.0, delta=1e-5)`.
            server_rate: What the estimated mean update is multiplied by, > 0.
            min_clients: How many devices a round waits for, >= 2.
            certify_every: In which rounds the metrics contain the guarantee so far, which
                takes seconds to compute: every one, every second one, ...
            messages: All possible messages of the randomizer; by default the cells within
                the grid, which Clip-Laplace sends.
            rng: Of the shuffler; by default the operating system's.

        Raises:
            MissingExtraError: If Flower is not installed.
            InvalidInputError: If a parameter is out of range.
        """
        require_flower()
        rate = as_number(server_rate, "server_rate")
        if not 0.0 < rate < np.inf:
            raise InvalidInputError(f"Expected a finite server_rate > 0, got {rate:g}.")
        if min_clients < 2 or certify_every < 1:
            raise InvalidInputError(
                "Expected at least 2 clients, and certify_every to be 1 or more, "
                f"got {min_clients} and {certify_every}."
            )
        super().__init__(
            fraction_evaluate=0.0,
            min_train_nodes=min_clients,
            min_available_nodes=min_clients,
        )
        self.randomizer = randomizer
        self.certify = certify
        self.server_rate = rate
        self.rng = SystemRandom() if rng is None else rng
        check_rng(self.rng)
        self.certify_every = certify_every
        self.messages = messages
        self._guarantee: TrainingGuarantee | None = None
        self._rounds = self._coordinates = 0
        self._crowd: dict[float, int] | None = None
        self._model: ArrayRecord | None = None

    @property
    def guarantee(self) -> TrainingGuarantee | None:
        """What is certified after the rounds so far, or None if nothing is.

        It counts, of every level, only as many people as took part in each round; a level
        that was absent from a round is absent from the guarantee. More people than those
        can only hide everybody better: their messages do not depend on the victim's, and
        could be added to hers afterwards.
        """
        crowd = self._crowd or {}
        if self._guarantee is None and sum(crowd.values()) > 1:
            self._guarantee = self.certify(
                Population.from_counts(crowd),
                coordinates=self._coordinates,
                rounds=self._rounds,
            )
        return self._guarantee

    def configure_train(
        self,
        server_round: int,
        arrays: "ArrayRecord",
        config: "ConfigRecord",
        grid: "Grid",
    ) -> Iterable["Message"]:
        """Asks all connected devices to train, and remembers the model they start from."""
        self._model = arrays
        return super().configure_train(server_round, arrays, config, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable["Message"]
    ) -> tuple["ArrayRecord | None", "MetricRecord | None"]:
        """Shuffles the replies and makes one step with the mean that they tell of.

        Args:
            server_round: Not used.
            replies: Of the devices that were asked.

        Returns:
            The new model, or None if nobody replied; and how many people took part, how
            many replies did not count, and the guarantee of each level so far.
        """
        from flwr.app import MetricRecord

        del server_round
        if self._model is None:
            raise InvalidInputError("Expected configure_train before aggregate_train.")
        weights = flat_weights(self._model)
        opened = [self._open(reply, weights.size) for reply in replies]
        counted = [reply for reply in opened if reply is not None]
        refused = len(opened) - len(counted)
        if not counted:
            return None, MetricRecord({"people": 0, "refused": refused})
        shuffled = shuffle_vectors(
            np.stack([cells for cells, _ in counted], axis=1),
            np.array([level for _, level in counted]),
            rng=self.rng,
        )
        mean = self.randomizer.estimate(shuffled.totals(), shuffled.levels)
        self._count(shuffled)
        metrics = MetricRecord({"people": len(counted), "refused": refused})
        if self._rounds % self.certify_every == 0:
            metrics.update(self._promises())
        after = (weights - self.server_rate * mean).astype(np.float32)
        return shaped_weights(after, self._model), metrics

    def _count(self, shuffled: ShuffledVectors) -> None:
        """Takes a round into account, of which levels are public."""
        self._rounds += 1
        self._coordinates = len(shuffled.messages)
        epsilons, counts = np.unique(shuffled.levels, return_counts=True)
        here = dict(zip(epsilons.tolist(), counts.tolist(), strict=True))
        before = here if self._crowd is None else self._crowd
        self._crowd = {
            level: min(count, here[level])
            for level, count in before.items()
            if level in here
        }
        self._guarantee = None

    def _promises(self) -> dict[str, int | list[float]]:
        """Returns the guarantee as far as metrics can hold it."""
        guarantee = self.guarantee
        if guarantee is None:
            return {"certified": 0}
        rows = guarantee.levels
        # What is not certified is not promised.
        central = [np.inf if r.user_central is None else r.user_central for r in rows]
        return {
            "certified": int(guarantee.certified),
            "levels": [row.epsilon_local for row in rows],
            "user-local": [row.user_local_certified for row in rows],
            "user-central": central,
        }

    def _open(self, reply: "Message", coordinates: int) -> tuple[Ints, float] | None:
        """Returns a device's cells, shape (d,), and its level; or None."""
        if reply.has_error():
            return None
        try:
            cells = reply.content.array_records[CELLS][CELLS].numpy()
            level = as_number(
                cast(float, reply.content.metric_records[LEVEL][LEVEL]), LEVEL
            )
        except Exception:  # Whatever a stranger sent, it must not stop the others.
            return None
        expected = ((coordinates,), self.randomizer.message_type)
        if (cells.shape, cells.dtype) != expected or not 0.0 <= level <= MAX_BUDGET:
            return None
        known = cells.min() in self.messages and cells.max() in self.messages
        return (cells, level) if known else None
