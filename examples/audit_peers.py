"""Randomizers of other libraries, as programs that `shuffledp audit` can ask.

They run in an environment of their own, behind a pipe, so that nothing of theirs has to go
with anything of ours:

    python3 -m venv peers
    peers/bin/pip install opendp multi-freq-ldpy pure-ldp scikit-learn statsmodels
    shuffledp audit randomizer "peers/bin/python examples/audit_peers.py pure-ldp-de" \
        --values 0,1,5 --levels 0.5,1

There are six categories, 0 to 5; OpenDP's noise is about 0 and 1. Every message is what the
library's client returns, as it returns it.
"""

import importlib
import json
import math
import sys
from collections.abc import Callable
from typing import Any

CATEGORIES = 6
# (value, level) -> message
Client = Callable[[Any, float], Any]


def multi_freq(module: str, name: str, *options: Any) -> Client:
    """Returns a client of multi-freq-ldpy."""
    found = importlib.import_module(f"multi_freq_ldpy.pure_frequency_oracles.{module}")
    client = getattr(found, name)

    def ask(value: Any, level: float) -> Any:
        message = client(value, CATEGORIES, level, *options)
        # A hash function is the seed that comes with the hash.
        pair = isinstance(message, tuple)
        return [int(part) for part in message] if pair else plain(message)

    return ask


def pure(module: str, name: str, **options: Any) -> Client:
    """Returns a client of pure-LDP, one object for each level."""
    found = importlib.import_module(f"pure_ldp.frequency_oracles.{module}")
    kind, made = getattr(found, name), {}

    def ask(value: Any, level: float) -> Any:
        if level not in made:
            made[level] = kind(level, CATEGORIES, **options)
        # Its values begin at 1.
        message = made[level].privatise(value + 1)
        pair = isinstance(message, tuple)
        return [int(part) for part in message] if pair else plain(message)

    return ask


def opendp_response() -> Client:
    """Returns randomized response of OpenDP, whose truth has the chance of the level."""
    dp = opendp()
    made: dict[float, Any] = {}

    def ask(value: Any, level: float) -> Any:
        if level not in made:
            chance = math.exp(level) / (math.exp(level) + CATEGORIES - 1)
            made[level] = dp.m.make_randomized_response(list(range(CATEGORIES)), chance)
        return made[level](value)

    return ask


def opendp_laplace() -> Client:
    """Returns Laplace noise of OpenDP, for numbers in [0, 1]."""
    dp = opendp()
    made: dict[float, Any] = {}

    def ask(value: Any, level: float) -> Any:
        if level not in made:
            space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
            made[level] = dp.m.make_laplace(*space, scale=1.0 / level)
        return made[level](float(value))

    return ask


def opendp() -> Any:
    """Imports OpenDP, with what it calls contributed."""
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    return dp


def plain(message: Any) -> Any:
    """Returns NumPy's numbers and arrays as Python's."""
    return message.tolist() if hasattr(message, "tolist") else message


CLIENTS: dict[str, Callable[[], Client]] = {
    "multi-freq-grr": lambda: multi_freq("GRR", "GRR_Client"),
    "multi-freq-ss": lambda: multi_freq("SS", "SS_Client"),
    "multi-freq-sue": lambda: multi_freq("UE", "UE_Client", False),
    "multi-freq-oue": lambda: multi_freq("UE", "UE_Client", True),
    "multi-freq-he": lambda: multi_freq("HE", "HE_Client"),
    "pure-ldp-de": lambda: pure("direct_encoding", "DEClient"),
    "pure-ldp-sue": lambda: pure("unary_encoding", "UEClient"),
    "pure-ldp-oue": lambda: pure("unary_encoding", "UEClient", use_oue=True),
    "pure-ldp-he": lambda: pure("histogram_encoding", "HEClient"),
    "opendp-response": opendp_response,
    "opendp-laplace": opendp_laplace,
}


def main() -> None:
    """Answers questions, one line each, until there are no more."""
    if len(sys.argv) != 2 or sys.argv[1] not in CLIENTS:
        sys.exit(f"Expected one of {', '.join(CLIENTS)}.")
    client = CLIENTS[sys.argv[1]]()
    for line in sys.stdin:
        question = json.loads(line)
        pairs = zip(question["values"], question["levels"], strict=True)
        messages = [client(value, level) for value, level in pairs]
        print(json.dumps({"messages": messages}), flush=True)


if __name__ == "__main__":
    main()
