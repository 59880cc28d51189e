"""The shuffler's dummies of one batch: drawn from its secret, sealed as devices seal.

Everything follows from the seed of the epoch, to which the task commits, and from the
messages that people sent:

    hash sum   the sum of the SHA-256 of each sealed message, modulo 2^256
    batch id   the first 16 bytes of HMAC-SHA256(seed, context, task, epoch, hash sum)
    dummies    from the seed's stream for the nonce (task, epoch, batch id)

    sealing    their ephemeral keys, with suite x25519, from the seed and the batch id

A crash before the batch is stored so changes nothing: the same messages have the same
dummies, and other messages have independent ones. The shuffler cannot try secrets until it
likes the noise; it could leave out people, or send messages itself, until it does. With
suite x-wing sealing takes fresh randomness, as on devices.
"""

import hmac
from collections.abc import Iterator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.shuffler.dummy_seed import DummySeed
from shuffledp_services.wire.derived_sealing import DerivedSealer
from shuffledp_services.wire.sealing import Sealer, Suite
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import ID_SIZE
from shuffledp_services.wire.upload_format import write_messages

HASH_SUMS = 2**256
"""Hash sums are whole numbers below this."""

_CONTEXT = b"shuffledp batch among dummies 1"
_SEALING = b"shuffledp sealing of dummies 1"
# Dummies that are sealed as one piece.
_AT_ONCE = 1 << 12


def sum_hashes(hashes: NDArray[np.bytes_]) -> int:
    """Returns the sum of hashes as whole numbers, below `HASH_SUMS`.

    Args:
        hashes: From `hash_messages`, shape (n,).
    """
    # In words of 32 bits: a sum of 2^32 of them fits into 64 bits.
    words = hashes.view(np.uint8).reshape(-1, 32).view(">u4").astype(np.uint64)
    total = 0
    for word in words.sum(axis=0).tolist():
        total = (total << 32) + word
    return total % HASH_SUMS


class BatchDummies:
    """Dummies of one batch, which are secret: they tell the noise."""

    def __init__(self, step: Step, seed: DummySeed) -> None:
        """Begins without drawing.

        Args:
            step: Step of the batch, to which the shuffler adds noise.
            seed: Of its epoch.

        Raises:
            InvalidInputError: If the shuffler adds no noise to it.
        """
        if step.dummies is None:
            raise InvalidInputError("Expected a step with noise of the shuffler.")
        self._step, self._run, self._seed = step, step.dummies, seed
        self._scope = step.task.digest + step.epoch.to_bytes(4, "big")
        self._batch_id: bytes | None = None

    def __repr__(self) -> str:
        return "BatchDummies()"

    @property
    def batch_id(self) -> bytes:
        """The id of the batch, 16 bytes.

        Raises:
            InvalidInputError: If nothing was drawn: then the batch has no noise.
        """
        if self._batch_id is None:
            raise InvalidInputError(
                "Expected dummies in the batch before it is closed."
            )
        return self._batch_id

    def draw(self, hash_sum: int) -> Iterator[bytes]:
        """Draws and seals the dummies; returns them in pieces.

        Args:
            hash_sum: From `sum_hashes`, of all messages of people.
        """
        self._batch_id = self.id_of(hash_sum)
        return self.sealed(self._batch_id)

    def id_of(self, hash_sum: int) -> bytes:
        """Returns the id of the batch with these messages of people, 16 bytes."""
        return self._derived(_CONTEXT, hash_sum.to_bytes(32, "big"))[:ID_SIZE]

    def messages(self, batch_id: bytes) -> NDArray[np.int64]:
        """Returns the dummies of a batch, the same every time, shape (dummies,)."""
        nonce = self._scope + batch_id
        rng = self._seed.random(self._step.run.identity, nonce=nonce)
        messages: NDArray[np.int64] = self._run.draw_dummies(rng=rng)
        return messages

    def sealed(self, batch_id: bytes) -> Iterator[bytes]:
        """Yields the dummies of a batch, sealed for the analyst, in pieces."""
        task, messages = self._step.task, self.messages(batch_id)
        info = self._step.info()
        if not self.repeats:
            fresh = Sealer(task.suite, task.analyst_key, info)
            for start in range(0, messages.size, _AT_ONCE):
                part = messages[start : start + _AT_ONCE]
                yield b"".join(fresh.seal(write_messages(part)))
            return
        secret = self._derived(_SEALING, batch_id)
        sealer = DerivedSealer(task.analyst_key, info, secret)
        for start in range(0, messages.size, _AT_ONCE):
            plain = write_messages(messages[start : start + _AT_ONCE])
            yield b"".join(map(sealer.seal, plain, count(start)))

    @property
    def repeats(self) -> bool:
        """Whether sealing the dummies again gives the same bytes."""
        return self._step.task.suite is Suite.X25519

    def _derived(self, context: bytes, content: bytes) -> bytes:
        text = context + self._scope + content
        return hmac.digest(self._seed.secret, text, "sha256")
