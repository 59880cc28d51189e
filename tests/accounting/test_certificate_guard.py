"""Nobody gets a certificate for what somebody else's cover speaks of."""

from abc import ABCMeta
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.randomizers.finite_categories import FiniteCategories

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


class PassesOver(sdp.KRandomizedResponse):
    """Answers for `randomize` with something else."""

    def __getattribute__(self, name: str) -> Any:
        if name == "randomize":
            return lambda values, epsilons, *, rng: values
        return super().__getattribute__(name)


class PassesOn(sdp.KRandomizedResponse):
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class Compares(sdp.KRandomizedResponse):
    """Is taken for every other one, by whatever keeps results."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class Frozen(sdp.KRandomizedResponse):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, 2)


class Subscripted(sdp.KRandomizedResponse):
    def __class_getitem__(cls, item: Any) -> Any:
        return cls


class Meta(ABCMeta):
    def __instancecheck__(cls, instance: Any) -> bool:
        return True


class OfAnotherKind(sdp.KRandomizedResponse, metaclass=Meta):
    pass


class Table(FiniteCategories):
    """Right: states a table, and inherits the rest."""

    mechanism = "table"
    parameters: dict[str, int | float | str] = {}  # noqa: RUF012
    num_values = num_messages = 3

    def chances(self, epsilons: Any) -> Any:
        high = 1.0 / (1.0 + 2.0 * np.exp(-epsilons))
        low = (1.0 - high) / 2.0
        held = np.eye(3, dtype=bool)
        return np.where(held, high[:, None, None], low[:, None, None])

    @property
    def supports(self) -> Any:
        return np.eye(3, dtype=bool)


class TableInClear(FiniteCategories):
    """Draws something else above a base that is not finished."""

    mechanism, parameters = "table-in-clear", Table.parameters
    num_values = num_messages = 3
    chances, supports = Table.chances, Table.supports

    def randomize(self, values: Any, epsilons: Any, *, rng: Any) -> Any:
        return np.asarray(values)


class TableDrawsInClear(FiniteCategories):
    """Replaces the part of `randomize` that draws."""

    mechanism, parameters = "table-draws-in-clear", Table.parameters
    num_values = num_messages = 3
    chances, supports = Table.chances, Table.supports

    def draw(self, values: Any, epsilons: Any, *, rng: Any) -> Any:
        return np.asarray(values)


class TableCountsOtherThings(FiniteCategories):
    """Replaces how simulations draw counts, which the direct base alone defines."""

    mechanism, parameters = "table-counts-other-things", Table.parameters
    num_values = num_messages = 3
    chances, supports = Table.chances, Table.supports

    def draw_support_counts(self, holders: Any, epsilons: Any, *, rng: Any) -> Any:
        return np.asarray(holders)


class TableLooksUp(FiniteCategories):
    mechanism, parameters = "table-looks-up", Table.parameters
    num_values = num_messages = 3
    chances, supports = Table.chances, Table.supports

    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__(name)


class TableWithItsOwn(TableInClear):
    """States anew what it sends: here, what a right table would."""

    def covers(self, victims: Any, crowd: Any, *, delta: float) -> Any:
        return super().covers(victims, crowd, delta=delta)

    def randomize(self, values: Any, epsilons: Any, *, rng: Any) -> Any:
        return FiniteCategories.randomize(self, values, epsilons, rng=rng)


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
        PassesOver(5),
        PassesOn(5),
        Compares(5),
        Frozen(5),
        Subscripted(5),
        OfAnotherKind(5),
        TableInClear(),
        TableDrawsInClear(),
        TableCountsOtherThings(),
        TableLooksUp(),
    ],
    ids=lambda protocol: type(protocol).__name__,
)
def test_what_draws_something_else_is_not_certified(protocol: Any) -> None:
    with pytest.raises(sdp.InvalidInputError, match=r"define|look up"):
        sdp.account(protocol, PEOPLE, delta=1e-6)


@pytest.mark.slow
def test_a_subclass_that_changes_nothing_keeps_its_certificate() -> None:
    class Renamed(sdp.KRandomizedResponse):
        """Nothing else."""

    ours = sdp.account(sdp.KRandomizedResponse(5), PEOPLE, delta=1e-6)
    theirs = sdp.account(Renamed(5), PEOPLE, delta=1e-6)

    assert theirs.levels == ours.levels
    # Somebody else's class is known by its name: its messages are not ours.
    assert theirs.protocol != ours.protocol
    with pytest.raises(sdp.DataError, match="does not come with this library"):
        sdp.verify(theirs)
    assert sdp.verify(theirs, protocol=Renamed(5)).holds


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("device", [Table(), TableWithItsOwn()], ids=["table", "own"])
def test_a_table_above_an_unfinished_base_is_certified(device: Any) -> None:
    ours = sdp.account(sdp.KRandomizedResponse(3), PEOPLE, delta=1e-6)

    found = sdp.account(device, PEOPLE, delta=1e-6)

    for one, other in zip(found.levels, ours.levels, strict=True):
        # Devices draw a hair more privately; certificates are rounded upward.
        assert one.epsilon_central == pytest.approx(other.epsilon_central, rel=0.2)


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
