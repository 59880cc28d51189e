"""A Flower mod that randomizes an update on the device, at the device's own level.

    app = ClientApp()
    private = RandomizeUpdate(Agreement(ROUND, rounds=20))

    @app.train(mods=[private])
    def train(message: Message, context: Context) -> Message: ...

The function trains as without the mod and returns its weights. The device sends the
randomized messages of (weights received - weights trained) / scale, its level and the
digest of the agreed round, and nothing else: no number of examples, no loss, no text of an
error.

**Whether a device answers must not depend on its data**: a refusal would be an answer
without noise, and a server that chooses its weights cleverly could read data from it. So
a request is refused only for its own content - such as another round than agreed - and for
the updates that the device sent before. An accepted request counts, and is always answered
with messages of the agreed form: those of an update of zeros where training fails or
returns arrays of another form than the model. The mod cannot hide how long training takes,
or that it ended the process: training should take equally long for all data, and no more
memory than there is.

The level is a setting of the device (`privacy-level` of its node config), which the server
cannot choose. Nor can it ask for more updates in a run than agreed. But Flower sends an
app's code to the devices when a run is started: anyone who may start one could start
another run, or an app without this mod. A device must trust the signer of the apps it runs.

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

# Keys of a reply's records and their entries; LEVEL is also the device's setting.
MESSAGES, LEVEL = "messages", "privacy-level"
# Key of the digest: of its record in a reply, and in the config of a request.
ROUND = "shuffledp-round"
# Keys of the device's own count of updates sent, which Flower keeps during a run.
_STATE, _SENT = "shuffledp", "updates-sent"
_REFUSED = "The request was refused; the log of the device says why."
# No model has larger weights; a server could send some to make training overflow.
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
        agreement: The strategy's: the round, and the number of updates that a device
            sends during one run.
        scale: Divisor of the difference of weights, > 0: steps times learning rate make
            the quotient the average gradient on the way.
        level_of: Returns the device's level in nats.
        rng_of: Returns the source of randomness; simulations may want a repeatable one.
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
        """Trains on the device, and replies with its randomized update.

        A request is refused, with the same text each time, if it is not one to train, if
        it names another round, if its only ArrayRecord is not a model of the agreed
        number of float32 weights within 1e6 of 0, if the device has no valid level, or if
        it sent the agreed number of updates already.
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

        sent_record = context.state.config_records.get(_STATE, ConfigRecord())
        num_sent = cast(int, sent_record.get(_SENT, 0))
        if num_sent >= self.agreement.rounds:
            raise InvalidInputError(
                f"Expected at most {self.agreement.rounds} requests to train."
            )
        # All refusals come before the data are touched, so that none depends on them.
        before = self._requested(message)
        level = self.level_of(context)
        check_budgets(np.array([level]))
        rng = self.rng_of(message, context)
        # Counted before training, so that every access to the data counts.
        count_record = ConfigRecord({_SENT: num_sent + 1})
        context.state[_STATE] = count_record
        update = self._update(before, lambda: call_next(message, context))
        context.state[_STATE] = count_record  # Training may have overwritten it.
        records = RecordDict(
            {
                MESSAGES: ArrayRecord(
                    {MESSAGES: Array(self._send(update, level, rng))}
                ),
                LEVEL: MetricRecord({LEVEL: level}),
                ROUND: ConfigRecord({ROUND: self.agreement.digest}),
            }
        )
        return Message(records, reply_to=message)

    def _send(
        self, update: NDArray[np.float32], level: float, rng: Rng
    ) -> NDArray[Any]:
        """Returns messages, shape (d,), also where a framework fails on an update."""
        # An error here may depend on the update, so it must not become the answer.
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
            # Results of an evaluation are computed from the data without any noise.
            raise InvalidInputError("Expected a request to train.")
        configs = message.content.config_records.values()
        if {config[ROUND] for config in configs if ROUND in config} != {
            self.agreement.digest
        }:
            raise InvalidInputError(
                f"Expected a request for the round with digest {self.agreement.digest}."
            )
        arrays = _only_arrays(message)
        weights, num_coordinates = (
            flat_weights(arrays),
            self.agreement.protocol.num_coordinates,
        )
        if weights.size != num_coordinates:
            raise InvalidInputError(
                f"Expected {num_coordinates} weights, got {weights.size}."
            )
        # Written this way round, it refuses NaN, too.
        if not np.all(np.abs(weights) <= _LARGEST_WEIGHT):
            raise InvalidInputError(
                f"Expected weights from {-_LARGEST_WEIGHT:g} to {_LARGEST_WEIGHT:g}."
            )
        return arrays

    def _update(
        self, before: "ArrayRecord", train: "Callable[[], Message]"
    ) -> NDArray[np.float32]:
        """Returns (before - after) / scale, shape (d,), always finite."""
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
        # Not KeyboardInterrupt: it comes from the operator, not from the data.
        except (Exception, SystemExit):
            logging.getLogger(__name__).exception("Zeros are randomized instead.")
            return np.zeros_like(start)
        # Zeros, not an error: a refusal would be an answer without noise.
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
