"""Decoder of Bloom filters by least squares: shares of the strings of a list.

Write f_s for the share of the n people who hold candidate s, and x_mbs = 1 if its filter
sets bit b in cohort m. People with other strings set a bit with probability

    d = 1 - (1 - 1 / bits)^hashes

over the choice of the hash, for every string. The share y_mb of people whose filter sets
the bit is therefore, in the mean,

    y_mb - d = sum_s (x_mbs - d) f_s,

one equation for each bit of each cohort. Least squares, with cohorts weighted by their
precision, gives the estimate of f; it is unbiased over the choice of the hash for any
number of people who hold strings outside the list.

*Errors* follow from the exact covariance of the equations: the devices' random bits, and
the assignment of people to cohorts and levels (`bit_shares`). If the equations fit worse,
because many people share a few strings outside the list, every standard error is multiplied
by sqrt(chi^2 / degrees of freedom).

*Found* are the candidates that the Benjamini-Hochberg procedure selects by one-sided
p-values of the hypothesis that no person holds the string: among them, in the mean, at most
the stated share is held by no one (for estimates with little or positive dependence).

Sources: Erlingsson, Pihur, Korolova (2014), arXiv:1407.6981, section 4; Benjamini,
Hochberg (1995), "Controlling the false discovery rate".
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csc_array
from scipy.special import ndtr

from shuffledp.analyzer.bit_shares import BitShares
from shuffledp.analyzer.string_estimate import StringEstimate
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.bloom import Strings, as_strings, bloom_positions
from shuffledp.types import Floats, Mode

# With fewer equations than this per candidate, errors grow needlessly.
EQUATIONS_PER_CANDIDATE = 1.5

# Rows of the matrix of normal equations that are filled at a time.
_BLOCK = 1 << 10


def decode_strings(
    shares: BitShares,
    candidates: tuple[str, ...],
    *,
    num_hashes: int,
    num_users: int,
    false_discovery_rate: float,
    mode: Mode,
) -> StringEstimate:
    """Estimates the share of people who hold each candidate.

    Args:
        shares: Of every bit of every cohort.
        candidates: From `check_candidates`.
        num_hashes: Number of positions that a string sets.
        num_users: People in all cohorts.
        false_discovery_rate: In (0, 1).
        mode: Of the reports, copied to the estimate.

    Raises:
        InvalidInputError: If the filters cannot tell the candidates apart.
    """
    num_cohorts, num_bits = shares.value.shape
    density = -math.expm1(num_hashes * math.log1p(-1.0 / num_bits))
    filters = _design_matrix(candidates, num_cohorts, num_bits, num_hashes)
    # One weight per cohort: weights from single noisy bits would bias the estimate.
    share = np.clip(shares.value.mean(axis=1), 0.0, 1.0)
    weights = 1.0 / (
        share * shares.noise_if_set + (1.0 - share) * shares.noise_if_unset
    )
    inverse = _inverse(filters, weights, num_bits, density)

    def in_cohort(cohort: int) -> "csc_array[np.float64]":
        return filters[:, cohort * num_bits : (cohort + 1) * num_bits]

    moments = np.zeros(len(candidates))
    for m in range(num_cohorts):
        excess = weights[m] * (shares.value[m] - density)
        moments += in_cohort(m) @ excess - density * excess.sum()
    value: Floats = inverse @ moments
    row_sums = inverse.sum(axis=0)
    explained = float(value.sum())
    # Variances of the estimates and, last, of their sum: from random bits, and from the
    # assignment to cohorts.
    randomization, assignment = np.zeros((2, value.size + 1))
    sensitivity, misfit = np.zeros((num_cohorts, value.size + 1)), 0.0
    step = np.zeros(value.size + 1)
    for m in range(num_cohorts):
        sparse = in_cohort(m)
        x = sparse.toarray() - density
        fitted = density + value @ x
        f = np.clip(fitted, 0.0, 1.0)
        noise = f * shares.noise_if_set[m] + (1.0 - f) * shares.noise_if_unset[m]
        # Bits of people who hold other strings are treated as independent.
        assignment_spread = shares.spread[m] - 1.0 / num_users
        noise += (
            max(1.0 - explained, 0.0) * density * (1.0 - density) * assignment_spread
        )
        # The change of every estimate, and of their sum, per change of a bit's share.
        effect = weights[m] * ((sparse.T @ inverse).T - density * row_sums[:, None])
        effect = np.concatenate([effect, effect.sum(axis=0, keepdims=True)])
        sizes = np.abs(effect)
        sensitivity[m] = sizes.sum(axis=1)
        step = np.maximum(step, shares.step[m] * sizes.max(axis=1))
        mean = value @ x
        covariance = (x.T * value) @ x - np.outer(mean, mean)
        covariance *= num_users / (num_users - 1)
        randomization += effect**2 @ noise
        assignment += shares.spread[m] * ((effect @ covariance) * effect).sum(axis=1)
        expected = noise + np.maximum(np.diag(covariance) * assignment_spread, 0.0)
        misfit += float(((shares.value[m] - fitted) ** 2 / expected).sum())
    # Between cohorts the covariance is -C / n: every person is in exactly one.
    shares_held = np.append(value, explained)
    assignment -= shares_held * (1.0 - shares_held) / (num_users - 1)
    misfit = max(misfit / (num_cohorts * num_bits - value.size), 1.0)
    errors = np.sqrt(misfit * (randomization + np.maximum(assignment, 0.0)))
    p_value: Floats = ndtr(-value / errors[:-1])
    return StringEstimate(
        candidates=candidates,
        value=value,
        standard_error=errors[:-1],
        p_value=p_value,
        found=_benjamini_hochberg(p_value, false_discovery_rate),
        false_discovery_rate=false_discovery_rate,
        unexplained=1.0 - explained,
        unexplained_error=float(errors[-1]),
        misfit=math.sqrt(misfit),
        num_users=num_users,
        mode=mode,
        sensitivity=sensitivity,
        step=step,
    )


def check_candidates(
    candidates: Strings, *, num_cohorts: int, num_bits: int
) -> tuple[str, ...]:
    """Returns the candidates, if they are different strings and not too many.

    Raises:
        InvalidInputError: If they are not.
    """
    texts = as_strings(candidates, "candidates")
    if not texts:
        raise InvalidInputError("Expected at least one candidate, got none.")
    if len(set(texts)) != len(texts):
        raise InvalidInputError("Expected candidates that are all different.")
    num_equations = math.ceil(EQUATIONS_PER_CANDIDATE * len(texts))
    if num_bits * num_cohorts < num_equations:
        raise InvalidInputError(
            f"Expected at most {int(num_bits * num_cohorts / EQUATIONS_PER_CANDIDATE)} "
            f"candidates for {num_cohorts} cohorts of {num_bits} bits, got {len(texts)}: "
            f"collect in {math.ceil(num_equations / num_bits)} cohorts."
        )
    return tuple(texts)


def check_rate(false_discovery_rate: float) -> float:
    """Returns the rate, if it is in (0, 1).

    Raises:
        InvalidInputError: If it is not.
    """
    rate = as_number(false_discovery_rate, "false_discovery_rate")
    if not 0.0 < rate < 1.0:
        raise InvalidInputError(f"Expected 0 < false_discovery_rate < 1, got {rate:g}.")
    return rate


def _design_matrix(
    candidates: tuple[str, ...], num_cohorts: int, num_bits: int, num_hashes: int
) -> "csc_array[np.float64]":
    """Returns the bits that candidates set, shape (candidates, cohorts * bits)."""
    size = len(candidates)
    cohorts = np.repeat(np.arange(num_cohorts), size)
    positions = bloom_positions(
        candidates * num_cohorts, cohorts, num_bits=num_bits, num_hashes=num_hashes
    )
    columns = (cohorts[:, None] * num_bits + positions).ravel()
    rows = np.repeat(np.tile(np.arange(size), num_cohorts), num_hashes)
    filters = csc_array(
        (np.ones(rows.size), (rows, columns)), shape=(size, num_cohorts * num_bits)
    )
    # csc_array adds up two hashes on one position; the bit is set only once.
    filters.data[:] = 1.0
    return filters


def _inverse(
    filters: "csc_array[np.float64]", weights: Floats, num_bits: int, density: float
) -> Floats:
    """Returns the inverse of the normal equations, shape (candidates, candidates)."""
    size = filters.shape[0]
    columns = np.repeat(weights, num_bits)
    scaled = filters.multiply(np.sqrt(columns)[None, :]).tocsr()
    across = scaled.T.tocsc()
    # Column by column in memory, so that LAPACK works in place.
    matrix = np.empty((size, size), order="F")
    blocks = [slice(at, min(at + _BLOCK, size)) for at in range(0, size, _BLOCK)]
    for block in blocks:
        matrix[block] = (scaled[block] @ across).toarray()
    # (x - d)' W (x - d) from the products of the sparse x and a rank-2 correction by d.
    shift = density * (filters @ columns) - density**2 * columns.sum() / 2.0
    matrix -= shift[:, None]
    matrix -= shift[None, :]
    scale = matrix.diagonal().copy()
    factor, failed = dpotrf(matrix, lower=1, overwrite_a=1)
    # Squared diagonal: the part of a candidate's filters that earlier ones do not explain.
    if failed or not np.all(factor.diagonal() ** 2 > 1e-9 * scale):
        raise InvalidInputError(
            "Expected candidates that the filters can tell apart: collect with more "
            "bits or more cohorts."
        )
    inverse: Floats = dpotri(factor, lower=1, overwrite_c=1)[0]
    for block in blocks:  # Only one triangle was filled in.
        square = inverse[block, block]
        inverse[block, block] = np.tril(square) + np.tril(square, -1).T
        inverse[block, block.stop :] = inverse[block.stop :, block].T
    return inverse


def _benjamini_hochberg(p_value: Floats, rate: float) -> NDArray[np.bool_]:
    order = np.argsort(p_value)
    # All up to the largest rank that passes, also if a smaller rank does not.
    ranks = np.arange(1, p_value.size + 1)
    passed = np.flatnonzero(p_value[order] <= rate * ranks / p_value.size)
    selected = np.zeros(p_value.size, dtype=np.bool_)
    if passed.size:
        selected[order[: passed[-1] + 1]] = True
    return selected
