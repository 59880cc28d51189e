"""What a device runs: the same training twice, protected in two ways."""

import logging

import setting
from flwr.app import (
    ArrayRecord,
    Context,
    Message,
    MetricRecord,
    RecordDict,
)
from flwr.clientapp import ClientApp
from flwr.clientapp.mod import LocalDpMod

from shuffledp.federated.flower_client import RandomizeUpdate

PRIVATE = RandomizeUpdate(
    setting.agreement(),
    scale=setting.SCALE,
    level_of=setting.level_of,
    rng_of=setting.rng_of,
)
# Two updates of norm c may differ by 2 c.
GAUSSIAN = LocalDpMod(
    setting.GAUSSIAN_CLIP,
    2.0 * setting.GAUSSIAN_CLIP,
    setting.GAUSSIAN_EPSILON,
    setting.DELTA,
)

# The mods of Flower tell the log about every message.
logging.getLogger("flwr").setLevel(logging.WARNING)

app = ClientApp()


@app.train(mods=[PRIVATE])
def train(message: Message, context: Context) -> Message:
    """Trains; the mod sends cells and the level, and nothing else."""
    return _train(message, context)


@app.train("gaussian", mods=[GAUSSIAN])
def train_gaussian(message: Message, context: Context) -> Message:
    """Trains; Flower's mod sends noisy weights."""
    return _train(message, context)


def _train(message: Message, context: Context) -> Message:
    (weights,) = message.content.array_records["arrays"].to_numpy_ndarrays()
    trained = setting.train_locally(weights, setting.number_of(context))
    content = RecordDict(
        {
            "arrays": ArrayRecord([trained]),
            "metrics": MetricRecord({"num-examples": 1}),
        }
    )
    return Message(content, reply_to=message)
