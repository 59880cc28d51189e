"""Other libraries' ways of estimating shares, means and quantiles, for comparisons.

Each imports its library when it is called. Neighbors differ in one person's value:
libraries for added and removed people get the noise that this requires.
"""

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from shuffledp.types import Floats, Ints


def installed(package: str) -> str | None:
    """Returns the version of a package, or None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def multi_freq(
    values: Ints, categories: int, epsilon: float, *, unary: bool = False
) -> Floats:
    """Arcolezi et al. (2022), arXiv:2205.02648: shares by k-ary response, or unary bits."""
    name = "UE" if unary else "GRR"
    module = importlib.import_module(f"multi_freq_ldpy.pure_frequency_oracles.{name}")
    client = getattr(module, f"{name}_Client")
    reports = [client(int(value), categories, epsilon) for value in values]
    if unary:
        return np.asarray(module.UE_Aggregator_MI(reports, epsilon))
    return np.asarray(module.GRR_Aggregator_MI(reports, categories, epsilon))


def pure(
    values: Ints, categories: int, epsilon: float, *, unary: bool = False
) -> Floats:
    """Cormode, Maddock, Maple (2021): the same; its categories begin at 1."""
    module = importlib.import_module("pure_ldp.frequency_oracles")
    name, terms = ("UE", {"use_oue": True}) if unary else ("DE", {})
    client = getattr(module, f"{name}Client")(epsilon=epsilon, d=categories, **terms)
    server = getattr(module, f"{name}Server")(epsilon=epsilon, d=categories, **terms)
    for value in values:
        server.aggregate(client.privatise(int(value) + 1))
    counts = [server.estimate(label + 1) for label in range(categories)]
    return np.array(counts) / len(values)


def opendp_shares(values: Ints, categories: int, epsilon: float) -> Floats:
    """OpenDP's histogram: replacing a value is one removal and one addition."""
    opendp = _opendp()
    counts = opendp.t.make_count_by_categories(
        opendp.vector_domain(opendp.atom_domain(T=int)),
        opendp.symmetric_distance(),
        categories=list(range(categories)),
        null_category=False,
    )
    noisy = counts >> opendp.m.then_laplace(scale=2.0 / epsilon)
    assert noisy.map(2) <= 1.000001 * epsilon
    return np.array(noisy(values.tolist())) / len(values)


def opendp_mean(values: Floats, low: float, high: float, epsilon: float) -> float:
    """OpenDP's sum of a known number of bounded values, by Laplace noise."""
    opendp = _opendp()
    total = opendp.t.make_sum(
        opendp.vector_domain(
            opendp.atom_domain(bounds=(low, high), nan=False), size=len(values)
        ),
        opendp.symmetric_distance(),
    )
    noisy = total >> opendp.m.then_laplace(scale=(high - low) / epsilon)
    # The library adds what floating-point sums may be off by.
    assert noisy.map(2) <= 1.0001 * epsilon
    return float(noisy(values.tolist())) / len(values)


def opendp_quantiles(
    values: Floats, shares: Floats, candidates: Floats, epsilon: float
) -> Floats:
    """OpenDP's private quantiles, each with an equal part of epsilon."""
    opendp = _opendp()
    numbers = []
    for share in shares.tolist():
        quantile = opendp.m.make_private_quantile(
            opendp.vector_domain(opendp.atom_domain(T=float, nan=False)),
            opendp.symmetric_distance(),
            opendp.max_divergence(),
            candidates=candidates.tolist(),
            alpha=share,
            scale=_quantile_scale(opendp, candidates, share, epsilon / shares.size),
        )
        numbers.append(quantile(values.tolist()))
    return np.array(numbers)


def _quantile_scale(
    opendp: Any, candidates: Floats, share: float, epsilon: float
) -> float:
    """Returns the scale at which the library states this epsilon for a replacement."""
    at_1 = opendp.m.make_private_quantile(
        opendp.vector_domain(opendp.atom_domain(T=float, nan=False)),
        opendp.symmetric_distance(),
        opendp.max_divergence(),
        candidates=candidates.tolist(),
        alpha=share,
        scale=1.0,
    ).map(2)
    return float(at_1) / epsilon * (1.0 + 1e-9)


def _opendp() -> Any:
    opendp = importlib.import_module("opendp.prelude")
    opendp.enable_features("contrib")
    return opendp
