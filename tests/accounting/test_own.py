"""Nobody gets a certificate for what somebody else's cover speaks of."""

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp

PEOPLE = sdp.Population.from_counts({0.5: 30, 1.0: 50})


class InClear(sdp.KRandomizedResponse):
    """Sends values as they are."""

    def randomize(self, values: Any, epsilons: Any, *, rng: Any) -> Any:
        return np.asarray(values)


class InClearToo(sdp.Laplace):
    """Replaces what the drawing is made of."""

    def decode(self, messages: Any) -> Any:
        return np.zeros(1)


class SendsOtherThings(sdp.Frequency):
    def randomize(self, values: Any, levels: Any, *, rng: Any) -> Any:
        return None


class Wrapper:
    def __init__(self, inside: Any) -> None:
        self.inside = inside

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inside, name)


def changed(protocol: Any) -> Any:
    object.__setattr__(protocol, "randomize", lambda *_: None)
    return protocol


@pytest.mark.parametrize(
    "protocol",
    [
        InClear(5),
        sdp.Frequency(5, randomizer=InClear(5)),
        sdp.SingleMessage(InClear(5)),
        InClearToo(0, 1),
        sdp.Mean(0, 1, randomizer=InClearToo(0, 1)),
        SendsOtherThings(5),
        Wrapper(sdp.KRandomizedResponse(5)),
        Wrapper(sdp.Frequency(5)),
        changed(sdp.Frequency(5)),
    ],
    ids=lambda protocol: type(protocol).__name__,
)
def test_what_draws_something_else_is_not_certified(protocol: Any) -> None:
    with pytest.raises(sdp.InvalidInputError, match="define"):
        sdp.account(protocol, PEOPLE, delta=1e-6)


def test_a_subclass_that_changes_nothing_keeps_its_certificate() -> None:
    class Renamed(sdp.KRandomizedResponse):
        """Nothing else."""

    ours = sdp.account(sdp.KRandomizedResponse(5), PEOPLE, delta=1e-6)
    theirs = sdp.account(Renamed(5), PEOPLE, delta=1e-6)

    assert theirs.levels == ours.levels
    # Somebody else's class is known by its name: its messages are not ours.
    assert theirs.protocol != ours.protocol
    with pytest.raises(sdp.DataError, match="pass the protocol"):
        sdp.verify(theirs)
    assert sdp.verify(theirs, protocol=Renamed(5)).holds


def test_two_densities_are_two_mechanisms() -> None:
    def density(scale: float) -> Any:
        def of(messages: Any, value: float, epsilon: float) -> Any:
            weight = np.exp(-epsilon * np.abs(messages - value) / scale)
            return weight / (2.0 * scale / epsilon * (1.0 - np.exp(-epsilon / scale)))

        return of

    one, other = (
        sdp.DensityRandomizer(density(scale), (0.0, 1.0), 0.0, 1.0, 10.0, 0.0)
        for scale in (1.0, 2.0)
    )

    assert sdp.SingleMessage(one).identity != sdp.SingleMessage(other).identity
    assert sdp.SingleMessage(one).identity == sdp.SingleMessage(one).identity
