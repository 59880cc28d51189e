"""What shuffled coordinates of many rounds are worth against the analyst."""

from shuffledp.accounting.account import account
from shuffledp.accounting.asked import MIN_DELTA
from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.statistics.single_message import SingleMessage

_UNSHUFFLED = ("pldp", "ldp-min")
_UNCERTIFIED = ("non-private", "s-apes", *_UNSHUFFLED)


def is_certified(framework: str) -> bool:
    """Tells whether a central guarantee is proven for this framework."""
    return framework not in _UNCERTIFIED


def central_so_far(
    framework: str,
    people: Population,
    *,
    clip: float,
    coordinates: int,
    rounds: int,
    delta: float,
    share: float,
) -> float | None:
    """Returns the certified epsilon of the most liberal people after so many rounds.

    None if nothing central is certified. Arguments are those of `certify_training`, whose
    last level this is.
    """
    if not is_certified(framework):
        return None
    level = float(people.epsilons[-1])
    guarantee = account(
        SingleMessage(device_of(framework, clip, share)),
        people,
        delta=delta,
        levels=[level],
        coordinates=coordinates,
        rounds=rounds,
    )
    return guarantee.level(level).epsilon_central


def device_of(framework: str, clip: float, share: float) -> LocalRandomizer:
    """Returns what every device runs for one coordinate."""
    plain = ClipLaplace(clip)
    if framework == "s-apes-threshold":
        return SparsifiedClipLaplace(clip, share=share)
    if framework == "one-bit-apes":
        return OneBit(-clip, clip)
    if framework in ("unis", *_UNSHUFFLED):
        return Laplace(-clip, clip)
    return plain


def central_epsilons(
    device: LocalRandomizer,
    people: Population,
    levels: list[float],
    coordinates: int,
    rounds: int,
    delta: float,
) -> list[dict[str, float]]:
    """Returns the four central numbers of each level."""
    protocol = SingleMessage(device)
    inner = max(delta / (coordinates * rounds), MIN_DELTA)
    one = account(protocol, people, delta=inner, levels=levels)
    all_of_them = account(
        protocol,
        people,
        delta=delta,
        levels=levels,
        coordinates=coordinates,
        rounds=rounds,
    )
    return [
        {
            "coordinate_central": one.level(level).epsilon_central,
            "coordinate_central_lower": one.level(level).epsilon_central_lower,
            "user_central": all_of_them.level(level).epsilon_central,
            "user_central_lower": all_of_them.level(level).epsilon_central_lower,
        }
        for level in levels
    ]
