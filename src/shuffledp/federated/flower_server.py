"""A Flower strategy that shuffles and averages randomized updates, with a certificate.

    strategy = ShuffledAveraging(
        AGREEMENT,
        promised={0.5: 300, 2.0: 100},
        delta=1e-5,
        server_rate=0.5,
    )
    strategy.guarantee.to_dict()
    strategy.start(grid, ArrayRecord([weights]), num_rounds=AGREEMENT.rounds)

Devices run `RandomizeUpdate` (flower_client.py) with the same agreement.

**The guarantee is fixed in advance**, and does not depend on who takes part, when, or how
often. The number of rounds is agreed, and a *promised population*: a number of people per
level. A round is aggregated only if at least that many of every level sent messages of the
agreed form; otherwise the model stays as it is. Replies of a level that was not promised
are ignored: no model depends on them. So the certificate covers every user whose messages
count. It is that of the promised population taking part in all rounds:

* In a round with more people, pick a promised population with the target user (the one
  whose data an attacker wants to learn) in it. The messages of all others are independent
  of theirs, given the past, and the analyst could add them to the shuffled ones alone.
* A round that a user misses, or that is skipped, or not held at all, reveals no more than
  one in which they take part.

Which devices answer must not depend on any user's data. The promise counts on devices that
follow the protocol: one that sends arbitrary messages hides no other user.

**Trust.** A Flower server knows which device sent which message: this strategy is shuffler
and analyst in one process. It drops senders before it computes anything, so the model and
its metrics carry the central guarantee towards all who see only them. Towards the operator
of the server, people have their local guarantee only. For the central one to hold towards
the analyst, too, a shuffler of another operator must stand between the devices and the
server, and pass on `ShuffledReports` only.

Source of the protocol: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors",
Algorithm 1.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.flower_agreement import Agreement
from shuffledp.federated.flower_client import LEVEL, MESSAGES, ROUND
from shuffledp.federated.flower_extra import (
    FedAvg,
    flat_weights,
    require_flower,
    shaped_weights,
)
from shuffledp.federated.local_guarantee import local_part
from shuffledp.population import Population
from shuffledp.randomness import Rng, SystemRandom, check_rng
from shuffledp.reports import Reports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.types import Floats, Ints

if TYPE_CHECKING:
    from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
    from flwr.serverapp import Grid


class ShuffledAveraging(FedAvg):
    """Federated averaging of updates that were randomized on the devices and shuffled.

    All connected devices train in every round, once as many as promised are connected;
    no request is sent after the agreed number of rounds. There is no evaluation on
    devices: pass an `evaluate_fn` with public test data to `start` instead.

    Replies that are errors, or not of the agreed form, or of a level that was not
    promised, count as no reply.
    """

    def __init__(
        self,
        agreement: Agreement,
        *,
        promised: Population | Mapping[float, int],
        delta: float,
        server_rate: float,
        rng: Rng | None = None,
    ) -> None:
        """Stores public parameters, and computes the guarantee before any training.

        Args:
            agreement: The one of the devices.
            promised: The smallest population of a round, also as {level: people}; 2
                people or more, of at most 32 levels.
            delta: Of one person's guarantee for the whole training, in [1e-300, 1).
            server_rate: Factor of the estimated mean update, > 0.
            rng: Of the shuffler; by default the operating system's.

        Raises:
            MissingExtraError: If Flower is not installed.
            InvalidInputError: If a parameter is out of range.
            PopulationError: If the promised population has a single person.
            CertificationError: If nothing can be proven about these settings.
        """
        require_flower()
        if not isinstance(agreement, Agreement):
            raise InvalidInputError(
                f"Expected an Agreement, got {type(agreement).__name__}."
            )
        rate = as_number(server_rate, "server_rate")
        if not 0.0 < rate < np.inf:
            raise InvalidInputError(f"Expected a finite server_rate > 0, got {rate:g}.")
        self.rng = SystemRandom() if rng is None else rng
        check_rng(self.rng)
        if not isinstance(promised, Population):
            promised = Population.from_counts(promised)
        guarantee = agreement.certify(promised, delta=delta)
        if len(guarantee.levels) < promised.num_levels:
            raise InvalidInputError(
                f"Expected so few levels that each is reported, got {promised!r}."
            )
        super().__init__(
            # Results of an evaluation on devices would carry no noise.
            fraction_evaluate=0.0,
            min_train_nodes=promised.num_users,
            min_available_nodes=promised.num_users,
        )
        self.server_rate = rate
        self._agreement = agreement
        self._protocol = agreement.protocol
        self._promised = promised
        self._guarantee = guarantee
        self._requested_rounds = 0
        # The model that devices were sent, until their replies are aggregated.
        self._model: ArrayRecord | None = None

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee after all agreed rounds; it covers any smaller number, too."""
        return self._guarantee

    def configure_train(
        self,
        server_round: int,
        arrays: "ArrayRecord",
        config: "ConfigRecord",
        grid: "Grid",
    ) -> Iterable["Message"]:
        """Returns requests to all connected devices; none after the agreed rounds.

        Raises:
            InvalidInputError: If the model has another number of weights than certified.
        """
        self._model = None
        num_weights, expected = (
            flat_weights(arrays).size,
            self._protocol.num_coordinates,
        )
        if num_weights != expected:
            raise InvalidInputError(f"Expected {expected} weights, got {num_weights}.")
        if self._requested_rounds >= self._agreement.rounds:
            return []
        # A round without a result counts, too, as the devices count it.
        self._requested_rounds += 1
        self._model = arrays
        config[ROUND] = self._agreement.digest
        return super().configure_train(server_round, arrays, config, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable["Message"]
    ) -> tuple["ArrayRecord | None", "MetricRecord | None"]:
        """Shuffles the replies and makes one step with the estimated mean update.

        Args:
            server_round: Not used.
            replies: Of the devices that got a request.

        Returns:
            The new model, or None if no request was sent, if a level has fewer people
            than promised, or if all levels are so low that there is only noise. And as
            metrics: the numbers of people who took part and of replies that did not
            count, whether there is a new model, the levels with too few people, and the
            guarantee of each level.
        """
        from flwr.app import MetricRecord

        del server_round
        # Taken only once: replies that come again change no model.
        model, self._model = self._model, None
        opened = [None if model is None else self._open(reply) for reply in replies]
        counted_replies = [reply for reply in opened if reply is not None]
        levels = np.array([level for _, level in counted_replies], dtype=np.float64)
        missing = self._missing(levels)
        mean = None
        # Fewer people than promised give less cover than was certified.
        if model is not None and not missing:
            mean = self._mean(np.stack([sent for sent, _ in counted_replies]), levels)
        metrics = MetricRecord(
            {
                "people": len(counted_replies),
                "refused": len(opened) - len(counted_replies),
                "released": int(mean is not None),
                "missing-levels": missing,
            }
        )
        metrics.update(self._promises())
        if model is None or mean is None:
            return None, metrics
        after = flat_weights(model) - self.server_rate * mean
        return shaped_weights(after.astype(np.float32), model), metrics

    def _missing(self, levels: Floats) -> list[float]:
        """Returns the levels that have fewer people than promised."""
        indices = self._promised.level_indices(levels)
        counts = np.bincount(indices, minlength=self._promised.num_levels)
        missing: list[float] = self._promised.epsilons[
            counts < self._promised.counts
        ].tolist()
        return missing

    def _mean(self, messages: Ints, levels: Floats) -> Floats | None:
        """Returns the estimated mean update, shape (d,), or None if all is noise.

        Args:
            messages: One row per device, shape (n, d).
            levels: Of the same devices, shape (n,).
        """
        # Senders are dropped before anything is computed.
        reports = Reports(self._protocol.identity, messages, levels, "columns")
        seen, people = shuffle(reports, rng=self.rng), Population.from_budgets(levels)
        try:
            return self._protocol.estimate(seen, people).value
        except InvalidInputError:  # All levels are 0, or next to it.
            return None

    def _promises(self) -> dict[str, int | list[float]]:
        """Returns the numbers and lists of the guarantee, which metrics can hold."""
        central, local = self._guarantee, local_part(self._guarantee, self._protocol)
        return {
            "certified": int(central.certified),
            "levels": [level.epsilon_local for level in local.levels],
            "user-local": [level.epsilon_all for level in local.levels],
            "user-central": [level.epsilon_central for level in central.levels],
        }

    def _open(self, reply: "Message") -> tuple[Ints, float] | None:
        """Returns a device's messages, shape (d,), and its level; None if invalid."""
        if reply.has_error():
            return None
        try:
            messages = reply.content.array_records[MESSAGES][MESSAGES].numpy()
            level = as_number(
                cast(float, reply.content.metric_records[LEVEL][LEVEL]), LEVEL
            )
            digest = reply.content.config_records[ROUND][ROUND]
            self._protocol.check_messages(messages[None])
        except Exception:  # One device's malformed reply must not stop the others.
            return None
        is_agreed = (
            digest == self._agreement.digest and level in self._promised.epsilons
        )
        return (messages, level) if is_agreed else None
