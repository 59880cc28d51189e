"""Ratio of certified upper bounds to lower bounds by attacks, over a grid of settings.

Prints for every mechanism, population and delta the certified central epsilon of each
level, the lower bound by the attack, and their ratio. Results can be stored and compared
with those of another version; it is an error if a certified number is larger there, or if
an attack exceeds a certificate.

    python benchmarks/tightness.py --only laplace,rappor --out new.json
    python benchmarks/tightness.py --compare old.json new.json
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from machine import describe

import shuffledp as sdp
from shuffledp.cover import LocalRandomizer
from shuffledp.randomizers.catalog import build
from shuffledp.randomizers.sampled_clip_laplace import SampledClipLaplace
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace

_USUAL = ({4.0: 10_000}, {0.5: 4_000, 1.0: 4_000, 2.0: 2_000}, {1.0: 9_990, 8.0: 10})
_FEW = ({1.0: 5, 3.0: 2}, {8.0: 60})
_MANY = ({4.0: 10_000_000}, {12.0: 100_000})
_DELTAS = (1e-6, 1e-12, 1e-100, 1e-300)


def settings() -> Iterator[tuple[str, LocalRandomizer]]:
    """Yields each mechanism with the name of its parameters."""
    chosen: tuple[tuple[str, dict[str, int | float | str]], ...] = (
        ("kary-response", {"categories": 2}),
        ("kary-response", {"categories": 17}),
        ("one-bit", {}),
        ("subset-selection", {"categories": 17, "subset_size": 4}),
        ("hadamard-response", {"categories": 20}),
        ("local-hashing", {"categories": 20, "buckets": 5}),
        ("unary-encoding", {"categories": 6}),
        ("unary-encoding", {"categories": 6, "variant": "optimized"}),
        ("rappor", {"bits": 32, "hashes": 2}),
        ("rappor", {"bits": 32, "hashes": 1}),
        ("laplace", {}),
        ("clip-laplace", {}),
        ("gaussian", {}),
    )
    for name, parameters in chosen:
        values = ",".join(f"{key}={value}" for key, value in parameters.items())
        yield f"{name}({values})", build(name, parameters)
    for share in (0.01, 0.2, 0.5, 0.9, 1.0):
        yield f"sampled-clip-laplace({share})", SampledClipLaplace(share=share)
    yield "sparsified-clip-laplace(0.2)", SparsifiedClipLaplace(share=0.2)


def measure(
    name: str, randomizer: LocalRandomizer, counts: dict[float, int]
) -> Iterator[dict[str, Any]]:
    """Yields a row for every delta and level of one population."""
    people = sdp.Population.from_counts(counts)
    questions: list[dict[str, Any]] = [{"delta": delta} for delta in _DELTAS]
    questions.append({"delta": 1e-6, "rounds": 3})
    questions.append({"delta": 1e-6, "absent": sum(counts.values()) // 5})
    top = max(counts)
    questions += [{"epsilon": top * part} for part in (0.005, 0.05, 0.5, 0.9)]
    for question in questions:
        row: dict[str, Any] = {"mechanism": name, "levels": str(counts), **question}
        start = time.process_time()
        try:
            guarantee = sdp.account(randomizer, people, **question)
        except sdp.ShuffledpError as error:
            yield row | {"refused": type(error).__name__}
            continue
        row["seconds"] = round(time.process_time() - start, 3)
        solved = "delta" if "epsilon" in question else "epsilon"
        for level in guarantee.levels:
            yield row | {
                "level": level.chosen,
                "certified": getattr(level, f"{solved}_central"),
                "attack": getattr(level, f"{solved}_central_lower"),
            }


def main() -> None:
    """Measures the chosen settings, or compares two stored results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="parts of mechanisms' names")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compare", type=Path, nargs=2)
    chosen = parser.parse_args()
    if chosen.compare:
        sys.exit(_compare(*(json.loads(path.read_text()) for path in chosen.compare)))
    print(describe())
    rows = []
    for name, randomizer in settings():
        if not any(part in name for part in chosen.only.split(",")):
            continue
        for counts in (*_USUAL, *_FEW, *_MANY):
            for row in measure(name, randomizer, counts):
                rows.append(row)
                _show(row)
    if chosen.out:
        chosen.out.write_text(json.dumps(rows))
    above = sum(row.get("attack", 0.0) > row.get("certified", 0.0) for row in rows)
    sys.exit(f"{above} attacks exceed their certificates." if above else 0)


def _key(row: dict[str, Any]) -> str:
    results = {"certified", "attack", "refused", "seconds"}
    return ", ".join(f"{k}={v}" for k, v in row.items() if k not in results)


def _show(row: dict[str, Any]) -> None:
    if "refused" in row:
        print(f"{_key(row)}: {row['refused']}")
        return
    ratio = row["certified"] / row["attack"] if row["attack"] > 0.0 else float("inf")
    print(f"{_key(row)}: {row['certified']:g} / {row['attack']:g} = {ratio:.3f}")


def _compare(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> int:
    """Prints differences; returns 1 if a certified number is larger."""
    before = {_key(row): row for row in old}
    larger = smaller = stronger = weaker = 0
    for row in new:
        past = before.get(_key(row))
        if past is None or "refused" in past:
            continue
        certified = row.get("certified", float("inf"))
        larger += certified > past["certified"]
        smaller += certified < past["certified"]
        stronger += row.get("attack", 0.0) > past["attack"]
        weaker += row.get("attack", 0.0) < past["attack"]
        if certified != past["certified"] or row.get("attack") != past["attack"]:
            word = "LARGER" if certified > past["certified"] else "changed"
            print(
                f"{word} {_key(row)}: {past['certified']:g} / {past['attack']:g} -> "
                f"{certified:g} / {row.get('attack', 0.0):g}"
            )
    print(f"{len(new)} rows: {larger} certified numbers larger, {smaller} smaller,")
    print(f"{stronger} attacks stronger, {weaker} weaker.")
    return int(larger > 0)


if __name__ == "__main__":
    main()
