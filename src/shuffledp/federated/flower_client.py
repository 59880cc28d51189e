"""A Flower mod that randomizes an update on the device, at the device's own level.

    app = ClientApp()
    private = RandomizeUpdate(randomizer, rounds=20)

    @app.train(mods=[private])
    def train(message: Message, context: Context) -> Message: ...

The function trains as without the mod and returns its weights. What leaves the device are
the randomized cells of (weights received - weights trained) / scale and the level, and
nothing else: no number of examples, no loss, no text of an error. That a device failed,
and when it answered, the server sees.

The level is a setting of the device (`privacy-level` of its node config), which the server
cannot choose. Nor can it ask for more than `rounds` updates in a run. But Flower sends an
app's code to the devices when somebody starts a run: whoever may do that could start
another one, or an app without this mod. A device must trust who signs the apps it runs.

Source of the protocol: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors",
Algorithm 1.
"""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.flower_extra import flat_weights, require_flower
from shuffledp.federated.round import VectorRandomizer
from shuffledp.population import check_budgets
from shuffledp.randomness import Rng, SystemRandom

if TYPE_CHECKING:
    from flwr.app import ArrayRecord, Context, Message
    from flwr.clientapp.typing import ClientAppCallable

# Of the reply's records, of what is in them, and of the setting that holds the level.
CELLS, LEVEL = "cells", "privacy-level"
# Of the device's own record of what it gave away, which Flower keeps during a run.
_STATE, _SENT = "shuffledp", "updates-sent"
_WITHHELD = "The update was withheld; the log of the device says why."


def level_of_node(context: "Context") -> float:
    """Returns the privacy level in the settings of the device."""
    level = context.node_config.get(LEVEL)
    if isinstance(level, bool) or not isinstance(level, int | float):
        raise InvalidInputError(
            f'Expected a number as "{LEVEL}" in the node config of the device.'
        )
    return float(level)


def _system_random(message: "Message", context: "Context") -> Rng:
    del message, context
    return SystemRandom()


@dataclass(frozen=True)
class RandomizeUpdate:
    """The mod; its attributes are public parameters.

    Attributes:
        randomizer: Clips and randomizes updates; the same one as the strategy's.
        rounds: How many updates a device gives away during one run, >= 1.
        scale: What a difference of weights is divided by, > 0: steps times learning rate
            make it the average gradient on the way.
        level_of: Finds the device's level in nats.
        rng_of: Makes the source of randomness; simulations may want a repeatable one.
    """

    randomizer: VectorRandomizer
    rounds: int
    scale: float = 1.0
    level_of: Callable[["Context"], float] = level_of_node
    rng_of: Callable[["Message", "Context"], Rng] = _system_random

    def __post_init__(self) -> None:
        require_flower()
        scale = as_number(self.scale, "scale")
        if not (math.isfinite(scale) and scale > 0.0):
            raise InvalidInputError(f"Expected a finite scale > 0, got {scale:g}.")
        if self.rounds < 1:
            raise InvalidInputError(f"Expected at least 1 round, got {self.rounds}.")

    def __call__(
        self, message: "Message", context: "Context", call_next: "ClientAppCallable"
    ) -> "Message":
        """Has the device train, and replies with its randomized update.

        Whatever goes wrong, the reply says the same: Flower would send the text of an
        exception to the server, and it may quote data.
        """
        from flwr.app import Error, Message
        from flwr.common.constant import ErrorCode

        try:
            return self._reply(message, context, call_next)
        except Exception:
            logging.getLogger(__name__).exception(_WITHHELD)
            error = Error(ErrorCode.MOD_FAILED_PRECONDITION, _WITHHELD)
            return Message(error, reply_to=message)

    def _reply(
        self, message: "Message", context: "Context", call_next: "ClientAppCallable"
    ) -> "Message":
        from flwr.app import (
            Array,
            ArrayRecord,
            ConfigRecord,
            Message,
            MessageType,
            MetricRecord,
            RecordDict,
        )

        if message.metadata.message_type.split(".")[0] != MessageType.TRAIN:
            # What an evaluation returns is computed from the data without any noise.
            raise InvalidInputError("Expected a request to train.")
        diary = context.state.config_records.get(_STATE, ConfigRecord())
        sent = cast(int, diary.get(_SENT, 0))
        if sent >= self.rounds:
            raise InvalidInputError(
                f"Expected at most {self.rounds} requests to train."
            )
        level = self.level_of(context)
        check_budgets(np.array([level]))
        rng = self.rng_of(message, context)
        before = _only_arrays(message)
        trained = call_next(message, context)
        if trained.has_error():
            raise InvalidInputError(
                "Expected the client app to train without an error."
            )
        update = self._update(before, _only_arrays(trained))
        cells = self.randomizer.randomize(update[None], np.array([level]), rng=rng)[0]
        context.state[_STATE] = ConfigRecord({_SENT: sent + 1})
        content = RecordDict(
            {
                CELLS: ArrayRecord({CELLS: Array(cells)}),
                LEVEL: MetricRecord({LEVEL: level}),
            }
        )
        return Message(content, reply_to=message)

    def _update(
        self, before: "ArrayRecord", after: "ArrayRecord"
    ) -> NDArray[np.float32]:
        """Returns (before - after) / scale, shape (d,)."""
        shapes = [[(k, array.shape) for k, array in r.items()] for r in (before, after)]
        if shapes[0] != shapes[1]:
            raise InvalidInputError(
                "Expected trained arrays of the names and shapes that the server sent."
            )
        difference = flat_weights(before) - flat_weights(after)
        update: NDArray[np.float32] = difference / np.float32(self.scale)
        if not np.all(np.isfinite(update)):
            raise InvalidInputError("Expected every trained weight to be finite.")
        return update


def _only_arrays(message: "Message") -> "ArrayRecord":
    """Returns the only ArrayRecord of a message."""
    records = list(message.content.array_records.values())
    if len(records) != 1:
        raise InvalidInputError(
            f"Expected one ArrayRecord in a message, got {len(records)}."
        )
    return records[0]
