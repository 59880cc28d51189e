"""Forged certificates: a true one, and what is done to it.

Each forgery changes a record and returns None, or returns a whole file. Digests are made to
fit, unless they are what is forged.
"""

import copy
import functools
import hashlib
import json
import struct
from collections.abc import Callable
from typing import Any

import shuffledp as sdp

Record = dict[str, Any]
Forgery = Callable[[Record], bytes | None]

_OTHER_TYPES: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    "-1": -1,
    "NaN": float("nan"),
    "infinite": float("inf"),
    "a text": "1",
    "no text": "",
    "a list": [],
    "an object": {},
    "1e301": 1e301,
}
# Values that are of a right type there, and change nothing that is promised.
_FITTING = {
    ("numerics", "a text"),
    ("people", "null"),
    ("protocol_digest", "a text"),
    ("also", "a list"),
    ("certified", "true"),
    ("epsilon_coalition", "null"),
    ("theorem", "a text"),
    ("version", "a text"),
}
# Factors of numbers that are promised; 1e-5 is what rounding to six digits may have given.
_FACTORS = (0.0, 1e-9, 0.1, 0.5, 0.9, 0.99, 0.998, 0.999)


@functools.cache
def certificate() -> Record:
    """Returns a true certificate of three levels."""
    # Of many people a certificate is checked at once.
    people = sdp.Population.from_counts(
        {0.5: 3 * 10**8, 1.0: 5 * 10**8, 2.5: 2 * 10**8}
    )
    record = sdp.account(sdp.Frequency(17), people, delta=1e-6, absent=10**7).to_dict()
    plain: Record = json.loads(json.dumps(record))
    return plain


def sealed(record: Record) -> Record:
    """Puts the digests of its protocol and people into a record."""
    protocol = json.dumps(record["protocol"], sort_keys=True, separators=(",", ":"))
    record["protocol_digest"] = hashlib.sha256(protocol.encode()).hexdigest()
    people = record["people"]
    packed = struct.pack(f"<{len(people)}d", *(level for level, _ in people))
    packed += struct.pack(f"<{len(people)}q", *(count for _, count in people))
    record["people_digest"] = hashlib.sha256(packed).hexdigest()
    return record


def _set(path: tuple[Any, ...], value: Any, seal: bool = False) -> Forgery:
    def forge(record: Record) -> None:
        holder: Any = record
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = copy.deepcopy(value)
        if seal:
            sealed(record)

    return forge


def _without(path: tuple[Any, ...]) -> Forgery:
    def forge(record: Record) -> None:
        holder: Any = record
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]

    return forge


def _scaled(level: int, factor: float) -> Forgery:
    def forge(record: Record) -> None:
        entry = record["levels"][level]
        entry["epsilon_central"] *= factor
        entry["epsilon_central_lower"] = 0.0

    return forge


def _file(change: Callable[[str], str | bytes]) -> Forgery:
    def forge(record: Record) -> bytes:
        content = change(json.dumps(record))
        return content if isinstance(content, bytes) else content.encode()

    return forge


def _also(change: Record) -> Forgery:
    def forge(record: Record) -> None:
        statement = {key: record[key] for key in ("about", "delta", "levels")}
        record["also"] = [copy.deepcopy(statement) | change]

    return forge


def _forgeries() -> dict[str, Forgery]:
    record, found = certificate(), dict[str, Forgery]()
    for key in record:
        found[f"without {key}"] = _without((key,))
        for name, value in _OTHER_TYPES.items():
            if (key, name) not in _FITTING:
                found[f"{key} is {name}"] = _set((key,), value)
    for key in record["levels"][0]:
        found[f"a level without {key}"] = _without(("levels", 0, key))
        for name, value in _OTHER_TYPES.items():
            if (key, name) not in _FITTING:
                found[f"{key} of a level is {name}"] = _set(("levels", 0, key), value)
    for level in range(3):
        for factor in _FACTORS:
            found[f"level {level} times {factor}"] = _scaled(level, factor)
        for factor in (0.0, 0.5, 0.999999):
            chosen = record["levels"][level]["epsilon_local"]
            found[f"coalition {level} times {factor}"] = _set(
                ("levels", level, "epsilon_coalition"), factor * chosen
            )
        for change in (-1, 1, 100):
            for key in ("count", "hides_among"):
                found[f"{key} of level {level} plus {change}"] = _set(
                    ("levels", level, key), record["levels"][level][key] + change
                )
    for theorem in ("device", "items", "counts", "composition", "two messages"):
        found[f"rests on {theorem}"] = _set(("levels", 0, "rests_on"), theorem)
    return found | _forged_people(record) | _forged_protocols() | _forged_files()


def _forged_people(record: Record) -> dict[str, Forgery]:
    found: dict[str, Forgery] = {}
    for level in range(3):
        for change in (-1, 1, 10**6):
            path = ("people", level, 1)
            count = record["people"][level][1] + change
            found[f"people {level} plus {change}"] = _set(path, count)
            found[f"people {level} plus {change}, sealed"] = _set(
                path, count, seal=True
            )
        for factor in (0.5, 0.99, 1.01):
            path = ("people", level, 0)
            budget = record["people"][level][0] * factor
            found[f"budget {level} times {factor}"] = _set(path, budget, seal=True)
    for num_users in (2, 10**9 - 1, 10**9 + 1, 10**12):
        found[f"{num_users} users"] = _set(("num_users",), num_users)
    for absent in (0, 10**7 - 1, 10**7 + 1, 10**9, 10**12):
        found[f"{absent} absent"] = _set(("absent",), absent)
    for key in ("rounds", "coordinates"):
        for times in (0, 2, 10**6):
            found[f"{times} {key}"] = _set((key,), times)
    for name, people in {
        "twice": [record["people"][0], *record["people"][1:], record["people"][2]],
        "falling": record["people"][::-1],
        "more": [[0.1, 10**6], *record["people"]],
    }.items():
        found[f"people {name}"] = _set(("people",), people, seal=True)
    for name, other in {"triples": [[0.5, 1, 1]], "numbers": [1], "none": []}.items():
        found[f"people as {name}"] = _set(("people",), other)
    return found


def _forged_protocols() -> dict[str, Forgery]:
    found: dict[str, Forgery] = {}
    # Of fewer categories nothing holds that is stated of 17.
    for categories in (1, 2, 3, 16, 0, -17, 17.5, "17", None, True, [17]):
        found[f"{categories!r} categories"] = _set(
            ("protocol", "parameters", "categories"), categories, seal=True
        )
    for key, values in {
        "mode": ("stratified", "both", "", None, 1),
        "mechanism": ("one-bit", "hadamard-response", "", None, 1),
        "statistic": ("sum", "mean", "counts", "", None),
    }.items():
        for value in values:
            found[f"{key} is {value!r}"] = _set(("protocol", key), value, seal=True)
    for digest in ("protocol_digest", "people_digest"):
        found[f"another {digest}"] = _set((digest,), "0" * 64)
    found["unknown key of the protocol"] = _set(("protocol", "more"), 1, seal=True)
    return found


def _forged_files() -> dict[str, Forgery]:
    found: dict[str, Forgery] = {
        "unknown key": _set(("more",), 1),
        "unknown key of a level": _set(("levels", 0, "more"), 1),
        "epsilon and delta": _set(("epsilon",), 0.1),
        "a statement twice": _also({"delta": 1e-9}),
        "a stricter statement": _also({"about": "one message", "delta": 1e-9}),
        "a statement without levels": _also({"about": "another", "levels": []}),
        "an unknown quantile": _set(("levels", 0, "quantile"), "mode"),
        "a false quantile": _set(("levels", 0, "quantile"), "maximum"),
        "an attack above": _set(("levels", 0, "epsilon_central_lower"), 9.0),
        "a target": _set(("levels", 0, "target"), 0.5),
        "levels that fall": _set(("levels",), certificate()["levels"][::-1]),
        "a level twice": _set(("levels", 1), certificate()["levels"][0]),
        "another subject": _set(("about",), "a thousand reports"),
        "another format": _set(("format",), "shuffledp-guarantee-4"),
        "half a file": _file(lambda text: text[: len(text) // 2]),
        "two objects": _file(lambda text: text + text),
        "a list": _file(lambda text: f"[{text}]"),
        "empty": _file(lambda text: ""),
        "a key twice": _file(lambda text: f'{{"delta": 0.5, {text[1:]}'),
        "UTF-16": _file(lambda text: text.encode("utf-16")),
        "a byte order mark": _file(lambda text: b"\xef\xbb\xbf" + text.encode()),
        "deep": _file(lambda text: "[" * 100_000),
        "NaN": _file(lambda text: text.replace("1e-06", "NaN")),
        "a large number": _file(lambda text: text.replace("1e-06", "1e999")),
        "within another": _file(lambda text: f'{{"certificate": {text}}}'),
    }
    for delta in (0.0, 1.0, 2.0, 1e-7, 9.9e-7, 1e-300, 1e-301):
        found[f"delta {delta}"] = _set(("delta",), delta)
    return found


FORGERIES = _forgeries()
