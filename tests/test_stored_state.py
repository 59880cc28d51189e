"""What a mechanism stores identifies it, or the mechanism is refused."""

import functools
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp.randomizers.finite_channel import FiniteChannel
from shuffledp.types import Floats

PEOPLE = sdp.Population.from_counts({1.0: 50})
FAIR = np.full((2, 2), 0.5)
LOUD = np.array([[0.7, 0.3], [0.3, 0.7]])


@dataclass(frozen=True, eq=False)
class Table(FiniteChannel):
    """Sends what a table says, at every level.

    Attributes:
        table: Chances, shape (values, messages).
        extra: Anything.
    """

    table: Any = field(default_factory=lambda: FAIR)
    extra: Any = None

    @property
    def mechanism(self) -> str:
        return "table"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        return {}

    @property
    def num_values(self) -> int:
        return 2

    @property
    def num_messages(self) -> int:
        return 2

    def chances(self, epsilons: Floats) -> Floats:
        return np.broadcast_to(np.asarray(self.table), (len(epsilons), 2, 2))


class Mode(Enum):
    FAST = 1
    SLOW = 2


def identity(extra: Any) -> str:
    return sdp.SingleMessage(Table(extra=extra)).identity.text


def test_two_tables_are_two_mechanisms() -> None:
    fair, loud = (sdp.SingleMessage(Table(table)) for table in (FAIR, LOUD))

    assert sdp.account(fair, PEOPLE, delta=1e-6).worst.epsilon_central == 0.0
    assert sdp.account(loud, PEOPLE, delta=1e-6).worst.epsilon_central > 0.0
    assert fair.identity != loud.identity
    assert fair.identity == sdp.SingleMessage(Table(FAIR.copy())).identity
    # Neither is read by the other, nor does its certificate speak of the other.
    reports = loud.randomize([0, 1], [1.0, 1.0], rng=np.random.default_rng(1))
    assert reports.identity == loud.identity
    with pytest.raises(sdp.DataError, match="Expected the protocol"):
        sdp.verify(sdp.account(fair, PEOPLE, delta=1e-6), protocol=loud)


DIFFERENT: list[Any] = [
    None, True, 1, 1.5, -0.0, "1", b"1", float("inf"), float("nan"), 1j,
    [1], [[1]], [1, 2], {1}, {"a": 1}, {1: "a"}, {"a": [1]}, ["a", 1], range(2),
    Mode.FAST, Mode.SLOW,
    np.arange(4), np.arange(4.0), np.arange(4).reshape(2, 2), np.arange(4) + 1,
    np.array(["a"]), np.array([True]), np.array([1j]),
    sdp.KRandomizedResponse(2), sdp.KRandomizedResponse(3), sdp.OneBit(0, 1),
    Table(), Table(LOUD), [Table(LOUD)],
]  # fmt: skip


def test_whatever_is_stored_tells_mechanisms_apart() -> None:
    texts = [identity(extra) for extra in DIFFERENT]

    assert len(set(texts)) == len(texts)
    assert texts == [identity(extra) for extra in DIFFERENT]


@given(
    first=st.lists(st.floats() | st.integers(), max_size=3),
    second=st.lists(st.floats() | st.integers(), max_size=3),
)
def test_lists_are_the_same_if_and_only_if_their_numbers_are(
    first: list[Any], second: list[Any]
) -> None:
    assert (identity(first) == identity(second)) == (repr(first) == repr(second))


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "extra",
    [
        lambda value: value,
        np.exp,
        object(),
        int,
        Table,
        np.random.default_rng(1),
        iter([1]),
        np.array([object()]),
        np.array([(1, 2)], dtype="i4,i4"),
        np.ma.masked_array([1, 2], mask=[True, False]),
        np.longdouble(1),
        functools.partial(int, "1"),
        cyclic(),
        {"a": object()},
        [print],
        bytearray(b"1"),
    ],
    ids=lambda extra: type(extra).__name__,
)
def test_a_mechanism_that_stores_anything_else_cannot_be_used(extra: Any) -> None:
    device = Table(extra=extra)

    for use in (
        lambda: sdp.SingleMessage(device).identity,
        lambda: sdp.account(device, PEOPLE, delta=1e-6),
        lambda: sdp.SingleMessage(device).randomize(
            [0], [1.0], rng=np.random.default_rng(1)
        ),
    ):
        with pytest.raises(sdp.IdentityError, match=r"^Expected Table\.extra to hold"):
            use()


class Slotted(sdp.OneBit):
    __slots__ = ("__hidden", "gain")

    def __init__(self, gain: Any, hidden: Any) -> None:
        super().__init__(0.0, 1.0)
        object.__setattr__(self, "gain", gain)
        object.__setattr__(self, "_Slotted__hidden", hidden)


def test_slots_and_attributes_put_on_an_object_count() -> None:
    plain = Slotted(1, 2)
    changed = [Slotted(2, 2), Slotted(1, 3), Slotted(1, 2)]
    object.__setattr__(changed[-1], "more", 1)

    texts = {sdp.SingleMessage(device).identity.text for device in (plain, *changed)}

    assert len(texts) == 4


def test_data_of_classes_counts() -> None:
    class Shared(sdp.OneBit):
        gain: ClassVar[Any] = [1]

    before = sdp.SingleMessage(Shared(0, 1)).identity
    Shared.gain = [2]

    assert sdp.SingleMessage(Shared(0, 1)).identity != before
    Shared.gain = {"f": print}
    with pytest.raises(sdp.IdentityError, match=r"Shared\.gain"):
        _ = sdp.SingleMessage(Shared(0, 1)).identity


def test_a_cached_property_is_the_same_before_and_after_its_first_use() -> None:
    class Cached(sdp.OneBit):
        @functools.cached_property
        def table(self) -> Any:
            return np.arange(3)

    device = Cached(0, 1)
    before = sdp.SingleMessage(device).identity
    _ = device.table

    assert sdp.SingleMessage(device).identity == before
    device.__dict__["table"] = np.arange(4)
    assert sdp.SingleMessage(device).identity != before


def test_a_parameter_cannot_hide_an_attribute_of_its_name() -> None:
    class Hiding(Table):
        @property
        def parameters(self) -> dict[str, int | float | str]:
            return {"table": "fair"}

    fair, loud = (sdp.SingleMessage(Hiding(table)) for table in (FAIR, LOUD))

    assert fair.identity != loud.identity


def test_containers_are_no_mechanisms() -> None:
    class Listed(list[int]):
        mechanism = "listed"
        parameters: ClassVar[dict[str, int]] = {}
        covers = delta_local = None

    from shuffledp.stored_state import stored_state

    with pytest.raises(sdp.IdentityError, match="subclass of list"):
        stored_state(Listed([1]))
