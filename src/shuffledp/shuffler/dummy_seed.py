"""A secret from which a shuffler's dummies can be drawn again, by an auditor.

The shuffler publishes the commitment, SHA-256 of the secret, before a collection. Then
others publish a nonce, which keeps the shuffler from trying secrets until their noise is to
its liking. After the collection it shows the secret to an auditor, who draws the dummies
again and looks for them among the shuffled messages.

The auditor learns the noise: against them, and all whom they tell, the central guarantee
does not hold. And noise from a seed is as random as AES, not as physical randomness.
"""

import hmac
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from shuffledp.arguments import expect_instance
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.identity import Identity
from shuffledp.randomness import KeyedRandom

_SECRET_SIZE = 32
_PURPOSE = b"shuffledp dummies of a shuffler 1"


@dataclass(frozen=True)
class DummySeed:
    """The secret of one collection's dummies.

    >>> import secrets, shuffledp as sdp
    >>> seed = DummySeed(secrets.token_bytes(32))
    >>> DummySeed.opened(seed.secret, commitment=seed.commitment) == seed
    True

    Attributes:
        secret: 32 bytes from the operating system.
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) != _SECRET_SIZE:
            raise InvalidInputError(f"Expected a secret of {_SECRET_SIZE} bytes.")

    @classmethod
    def opened(cls, secret: bytes, *, commitment: str) -> "DummySeed":
        """Returns the seed of a secret that a shuffler shows after a collection.

        Args:
            secret: 32 bytes.
            commitment: Published before by the shuffler.

        Raises:
            DataError: If the commitment is another secret's.
        """
        seed = cls(secret)
        stated_commitment = commitment if isinstance(commitment, str) else ""
        if not hmac.compare_digest(
            seed.commitment.encode(), stated_commitment.encode()
        ):
            raise DataError(
                "Expected the secret that the shuffler committed to, got another."
            )
        return seed

    @property
    def commitment(self) -> str:
        """SHA-256 of the secret, 64 hexadecimal digits; it may be published."""
        return sha256(self.secret).hexdigest()

    def random(self, identity: Identity, *, nonce: bytes) -> KeyedRandom:
        """Returns the randomness of a collection's dummies, from the start.

        Args:
            identity: Of the protocol.
            nonce: Of 16 bytes or more, which others published after the commitment; a
                secret serves for one collection.

        Raises:
            InvalidInputError: If the nonce is short.
            MissingExtraError: If the package cryptography is missing.
        """
        expect_instance(identity, Identity)
        if not isinstance(nonce, bytes) or len(nonce) < 16:
            raise InvalidInputError("Expected a nonce of at least 16 bytes.")
        # The digests in front have one length each: the parts cannot be confused.
        parts = (_PURPOSE, identity.digest.encode(), nonce)
        digest = sha256(b"".join(sha256(part).digest() for part in parts)).digest()
        return KeyedRandom(self.secret, np.frombuffer(digest, dtype=np.uint8)[None, :])
