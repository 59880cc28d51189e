"""A Flower mod that randomizes an update on the device, at the device's own level.

    app = ClientApp()
    private = RandomizeUpdate(Agreement(ROUND, rounds=20))

    @app.train(mods=[private])
    def train(message: Message, context: Context) -> Message: ...

The function trains as without the mod and returns its weights. What leaves the device are
the randomized messages of (weights received - weights trained) / scale, the level and the
digest of the round that was agreed on, and nothing else: no number of examples, no loss, no
text of an error.

**Whether a device answers must not depend on its data**: a refusal would be an answer
without noise, and a server that asks cleverly chosen weights could read data from it. So
a request is refused before the data are touched, for what it says itself - another round
than agreed, for one - and for what the device sent before. Once it is accepted, it counts,
and messages of the agreed form are sent whatever happens: where training fails, or its
result is not of the form of the model, those of an update of zeros; where coordinates are
not finite, those of zeros in their place. The mod cannot hide how long training takes, or
that it ended the process: training should take equally long for all data, and no more
memory than there is.

The level is a setting of the device (`privacy-level` of its node config), which the server
cannot choose. Nor can it ask for more updates in a run than were agreed on. But Flower
sends an app's code to the devices when somebody starts a run: whoever may do that could
start another one, or an app without this mod. A device must trust who signs the apps it
runs.

Source of the protocol: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors",
Algorithm 1.
"""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.flower_agreement import Agreement
from shuffledp.federated.flower_extra import flat_weights, require_flower
from shuffledp.population import check_budgets
from shuffledp.randomness import Rng, SystemRandom

if TYPE_CHECKING:
    from flwr.app import ArrayRecord, Context, Message
    from flwr.clientapp.typing import ClientAppCallable

# Of the reply's records, of what is in them, and of the setting that holds the level.
MESSAGES, LEVEL = "messages", "privacy-level"
# Of the record in a reply, and of what is in it and in the config of a request.
ROUND = "shuffledp-round"
# Of the device's own record of what it gave away, which Flower keeps during a run.
_STATE, _SENT = "shuffledp", "updates-sent"
_REFUSED = "The request was refused; the log of the device says why."
# Larger weights are not a model's, but a way to make training overflow.
_LARGEST_WEIGHT = 1e6


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
        agreement: The strategy's: what happens in a round, and how many updates a device
            gives away during one run.
        scale: What a difference of weights is divided by, > 0: steps times learning rate
            make it the average gradient on the way.
        level_of: Finds the device's level in nats.
        rng_of: Makes the source of randomness; simulations may want a repeatable one.
    """

    agreement: Agreement
    scale: float = 1.0
    level_of: Callable[["Context"], float] = level_of_node
    rng_of: Callable[["Message", "Context"], Rng] = _system_random

    def __post_init__(self) -> None:
        require_flower()
        if not isinstance(self.agreement, Agreement):
            raise InvalidInputError(
                f"Expected an Agreement, got {type(self.agreement).__name__}."
            )
        scale = as_number(self.scale, "scale")
        if not (math.isfinite(scale) and scale > 0.0):
            raise InvalidInputError(f"Expected a finite scale > 0, got {scale:g}.")

    def __call__(
        self, message: "Message", context: "Context", call_next: "ClientAppCallable"
    ) -> "Message":
        """Has the device train, and replies with its randomized update.

        A request is refused, with the same text each time, if it is not one to train, if
        it speaks of another round, if its only ArrayRecord is not a model of as many
        float32 weights as were agreed on, within 1e6 of 0, if the device has no valid
        level, or if it sent as many updates as were agreed on.
        """
        from flwr.app import Error, Message
        from flwr.common.constant import ErrorCode

        try:
            return self._reply(message, context, call_next)
        except Exception:
            # Flower would send the text of the exception to the server.
            logging.getLogger(__name__).exception(_REFUSED)
            error = Error(ErrorCode.MOD_FAILED_PRECONDITION, _REFUSED)
            return Message(error, reply_to=message)

    def _reply(
        self, message: "Message", context: "Context", call_next: "ClientAppCallable"
    ) -> "Message":
        from flwr.app import (
            Array,
            ArrayRecord,
            ConfigRecord,
            Message,
            MetricRecord,
            RecordDict,
        )

        diary = context.state.config_records.get(_STATE, ConfigRecord())
        sent = cast(int, diary.get(_SENT, 0))
        if sent >= self.agreement.rounds:
            raise InvalidInputError(
                f"Expected at most {self.agreement.rounds} requests to train."
            )
        before = self._requested(message)
        level = self.level_of(context)
        check_budgets(np.array([level]))
        rng = self.rng_of(message, context)
        # Before training, so that every look at the data counts.
        counted = ConfigRecord({_SENT: sent + 1})
        context.state[_STATE] = counted
        update = self._update(before, lambda: call_next(message, context))
        context.state[_STATE] = counted  # Whatever training made of it.
        content = RecordDict(
            {
                MESSAGES: ArrayRecord(
                    {MESSAGES: Array(self._send(update, level, rng))}
                ),
                LEVEL: MetricRecord({LEVEL: level}),
                ROUND: ConfigRecord({ROUND: self.agreement.digest}),
            }
        )
        return Message(content, reply_to=message)

    def _send(
        self, update: NDArray[np.float32], level: float, rng: Rng
    ) -> NDArray[Any]:
        """Returns messages, shape (d,), also where a framework fails on an update."""
        protocol, levels = self.agreement.protocol, [level]
        try:
            reports = protocol.randomize(update[None], levels, rng=rng)
        except Exception:
            logging.getLogger(__name__).exception("Zeros are randomized instead.")
            zeros = np.zeros_like(update)
            reports = protocol.randomize(zeros[None], levels, rng=rng)
        messages: NDArray[Any] = reports.messages[0]
        return messages

    def _requested(self, message: "Message") -> "ArrayRecord":
        """Returns the model that a request to train starts from."""
        from flwr.app import MessageType

        if message.metadata.message_type.split(".")[0] != MessageType.TRAIN:
            # What an evaluation returns is computed from the data without any noise.
            raise InvalidInputError("Expected a request to train.")
        configs = message.content.config_records.values()
        if {config[ROUND] for config in configs if ROUND in config} != {
            self.agreement.digest
        }:
            raise InvalidInputError(
                f"Expected a request for the round with digest {self.agreement.digest}."
            )
        arrays = _only_arrays(message)
        weights, number = flat_weights(arrays), self.agreement.protocol.num_coordinates
        if weights.size != number:
            raise InvalidInputError(f"Expected {number} weights, got {weights.size}.")
        # Written this way round, it refuses NaN, too.
        if not np.all(np.abs(weights) <= _LARGEST_WEIGHT):
            raise InvalidInputError(
                f"Expected weights from {-_LARGEST_WEIGHT:g} to {_LARGEST_WEIGHT:g}."
            )
        return arrays

    def _update(
        self, before: "ArrayRecord", train: "Callable[[], Message]"
    ) -> NDArray[np.float32]:
        """Returns (before - after) / scale, shape (d,), finite whatever happens."""
        start = flat_weights(before)
        shapes = _shapes(before)
        try:
            after = _only_arrays(train())
            if _shapes(after) != shapes:
                raise InvalidInputError(
                    "Expected trained arrays of the names and shapes that were sent."
                )
            with np.errstate(all="ignore"):
                update = (start - flat_weights(after)) / np.float32(self.scale)
        except (Exception, SystemExit):
            logging.getLogger(__name__).exception("Zeros are randomized instead.")
            return np.zeros_like(start)
        finite: NDArray[np.float32] = np.nan_to_num(
            update, nan=0.0, posinf=0.0, neginf=0.0
        )
        return finite


def _shapes(arrays: "ArrayRecord") -> list[tuple[str, tuple[int, ...]]]:
    return [(name, tuple(array.shape)) for name, array in arrays.items()]


def _only_arrays(message: "Message") -> "ArrayRecord":
    """Returns the only ArrayRecord of a message."""
    records = list(message.content.array_records.values())
    if len(records) != 1:
        raise InvalidInputError(
            f"Expected one ArrayRecord in a message, got {len(records)}."
        )
    return records[0]
