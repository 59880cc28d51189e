"""The parameters of an answer: statistic, mechanism, users and circumstances."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import urlencode

from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp.population import Population
from shuffledp.randomizers.catalog import build
from shuffledp.randomizers.checks import value_range
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.types import Mode

# The parameter of each mechanism besides the categories or the range, if it has one.
MECHANISMS: dict[str, dict[str, str | None]] = {
    "frequency": {
        "kary-response": None,
        "subset-selection": "subset_size",
        "hadamard-response": None,
        "local-hashing": "buckets",
        "unary-encoding": None,
    },
    "mean": {
        "one-bit": None,
        "laplace": None,
        "clip-laplace": None,
        "gaussian": "delta_local",
    },
}
MAX_LEVELS = 12
MAX_EPSILON = 20.0
MAX_CATEGORIES = 10_000
MAX_ROUNDS = 1000
MAX_BUCKETS = 1000
# A float holds about 17 digits; longer texts add no information.
_MAX_DIGITS = 24
_DEFAULTS = {
    "statistic": "frequency",
    "mechanism": "kary-response",
    "mode": "agnostic",
    "categories": "17",
    "low": "0",
    "high": "10",
    "subset_size": "4",
    "buckets": "5",
    "delta_local": "1e-06",
    "levels": "0.5:2500,1:5000,2:2500",
    "delta": "1e-06",
    "absent": "0",
    "rounds": "1",
    "value": "0.2",
}


@dataclass(frozen=True)
class Scene:
    """All parameters that an answer depends on.

    >>> scene = read_scene({"levels": "1:5000,2:5000"})
    >>> scene.levels, scene.protocol.num_categories
    (((1.0, 5000), (2.0, 5000)), 17)

    Attributes:
        statistic: "frequency" or "mean".
        mechanism: The mechanism on the devices, in `MECHANISMS` of the statistic.
        mode: Whether levels travel apart from messages or with them.
        terms: Parameters of the statistic, by name: the categories, or the range.
        setting: The further parameter of the mechanism, by name, if it has one.
        levels: Local epsilons in nats with the number of users at each, ascending.
        delta: The delta at which central epsilons are certified.
        absent: The number of other users who may be absent or collude.
        rounds: The number of rounds with the same users.
        value: The share or mean whose expected error is shown.
    """

    statistic: str
    mechanism: str
    mode: Mode
    terms: tuple[tuple[str, float], ...]
    setting: tuple[tuple[str, float], ...]
    levels: tuple[tuple[float, int], ...]
    delta: float
    absent: int
    rounds: int
    value: float

    @property
    def people(self) -> Population:
        """The population: users by level."""
        return Population.from_counts(dict(self.levels))

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of the mechanism, by name, in the order of the command line."""
        terms = dict(self.terms)
        if self.mechanism == "clip-laplace":
            # Its noise is added to values centred at 0, in a range of the same width.
            terms = {"clip": value_range(terms["low"], terms["high"])}
        return terms | dict(self.setting)

    @property
    def protocol(self) -> Any:
        """The protocol that runs on the devices."""
        terms = dict(self.terms)
        randomizer: Any = build(self.mechanism, self.parameters)
        if self.statistic == "frequency":
            return Frequency(int(terms["categories"]), self.mode, randomizer)
        return Mean(terms["low"], terms["high"], self.mode, randomizer)

    @property
    def levels_text(self) -> str:
        """Levels and numbers of users in the format of the command line."""
        return ",".join(f"{plain(level)}:{people}" for level, people in self.levels)

    @property
    def query(self) -> str:
        """The canonical query string of the scene."""
        given: dict[str, str] = {
            "statistic": self.statistic,
            "mechanism": self.mechanism,
            "mode": self.mode,
            **{name: plain(value) for name, value in self.terms + self.setting},
            "levels": self.levels_text,
            "delta": plain(self.delta),
            "absent": str(self.absent),
            "rounds": str(self.rounds),
            "value": plain(self.value),
        }
        return urlencode(given, safe=":,")


def read_scene(given: Mapping[str, str]) -> Scene:
    """Reads a scene from the query of an address, with defaults for missing names.

    Args:
        given: Texts by name.

    Raises:
        InvalidInputError: If a name is unknown, or a text is no valid value.
    """
    if unknown := sorted(set(given) - set(_DEFAULTS)):
        raise InvalidInputError(
            f"Expected {', '.join(_DEFAULTS)}, got {unknown[0][:_MAX_DIGITS]!r}."
        )
    texts = _DEFAULTS | dict(given)
    statistic = _one_of("statistic", texts["statistic"], tuple(MECHANISMS))
    allowed = MECHANISMS[statistic]
    if "mechanism" not in given:
        # The default mechanism exists for frequency alone; each statistic has a first.
        texts["mechanism"] = next(iter(allowed))
    mechanism = _one_of("mechanism", texts["mechanism"], tuple(allowed))
    terms: tuple[tuple[str, float], ...]
    if statistic == "frequency":
        categories = _whole("categories", texts["categories"], 2, MAX_CATEGORIES)
        terms, low, high = (("categories", categories),), 0.0, 1.0
    else:
        low, high = (
            _number(name, texts[name], -1e12, 1e12) for name in ("low", "high")
        )
        if not low < high:
            raise InvalidInputError(
                f"Expected low < high, got {plain(low)} and {plain(high)}."
            )
        terms = (("low", low), ("high", high))
        if "value" not in given:
            # The default share of 0.2 may lie outside the range: take its middle.
            texts["value"] = plain(low + (high - low) / 2.0)
    levels = _levels(texts["levels"])
    # The target user takes part: all others may be absent.
    others = sum(people for _, people in levels) - 1
    mode: Any = _one_of("mode", texts["mode"], get_args(Mode))
    return Scene(
        statistic=statistic,
        mechanism=mechanism,
        mode=mode,
        terms=terms,
        setting=_setting(allowed[mechanism], texts, dict(terms)),
        levels=levels,
        delta=_number("delta", texts["delta"], 1e-300, 0.5),
        absent=_whole("absent", texts["absent"], 0, others),
        rounds=_whole("rounds", texts["rounds"], 1, MAX_ROUNDS),
        value=_number("value", texts["value"], low, high),
    )


def _setting(
    name: str | None, texts: Mapping[str, str], terms: Mapping[str, float]
) -> tuple[tuple[str, float], ...]:
    if name is None:
        return ()
    if name == "delta_local":
        return ((name, _number(name, texts[name], 1e-100, 0.5)),)
    # A subset of all categories would carry no information.
    most = int(terms["categories"]) - 1 if name == "subset_size" else MAX_BUCKETS
    least = 1 if name == "subset_size" else 2
    return ((name, _whole(name, texts[name], least, most)),)


def _levels(text: str) -> tuple[tuple[float, int], ...]:
    # Split at most that often: a long text is not split in full before it is refused.
    parts = text.split(",", MAX_LEVELS)
    if len(parts) > MAX_LEVELS:
        raise InvalidInputError(f"Expected at most {MAX_LEVELS} levels, got more.")
    counts: dict[float, int] = {}
    for part in parts:
        level, colon, people = part.partition(":")
        if not colon:
            raise InvalidInputError(
                f"Expected levels as EPSILON:PEOPLE,..., got {part[:_MAX_DIGITS]!r}."
            )
        epsilon = _number("a level", level, 0.0, MAX_EPSILON)
        if epsilon in counts:
            raise InvalidInputError(f"Expected each level once, got {plain(epsilon)}.")
        # `Population` itself checks the total below.
        counts[epsilon] = _whole("people", people, 1, 10**12)
    Population.from_counts(counts)
    return tuple(sorted(counts.items()))


def _one_of(name: str, text: str, allowed: tuple[str, ...]) -> str:
    if text not in allowed:
        raise InvalidInputError(
            f"Expected {name} to be one of {', '.join(allowed)}, got "
            f"{text[:_MAX_DIGITS]!r}."
        )
    return text


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        # float() accepts "1_000", which other readers of the query do not.
        number = float("" if "_" in text else text[: _MAX_DIGITS + 1])
    except ValueError:
        number = float("nan")
    # NaN fails the comparison, so it is refused, too.
    if len(text) > _MAX_DIGITS or not least <= number <= most:
        raise InvalidInputError(
            f"Expected {name} to be a number from {least:g} to {most:g}, got "
            f"{text[:_MAX_DIGITS]!r}."
        )
    # Adding 0.0 turns -0.0 into 0.0, so that equal scenes have equal queries.
    return number + 0.0


def _whole(name: str, text: str, least: int, most: int) -> int:
    # isdigit() alone accepts digits of other scripts, such as superscripts.
    digits = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    if not digits or not least <= int(text) <= most:
        raise InvalidInputError(
            f"Expected {name} to be a whole number from {least:,} to {most:,}, got "
            f"{text[:_MAX_DIGITS]!r}."
        )
    return int(text)
