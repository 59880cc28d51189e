"""Public hash functions of whole numbers: from 64 bits to buckets."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from shuffledp.types import Ints

Codes = NDArray[np.uint64]


def hashed_buckets(codes: Codes, function: str, bits: int) -> Ints:
    """Returns a bucket for each code, from 0 to 2^bits - 1, shape as `codes`.

    Buckets of different functions are unrelated, and so are those of different codes.

    >>> hashed_buckets(np.arange(3, dtype=np.uint64), "0/0", 8).tolist()
    [102, 237, 217]

    Args:
        codes: Whole numbers below 2^64.
        function: The name of the hash function: public, and fixed before answers are.
        bits: From 1 to 63.
    """
    salts = _salts(function)
    mixed = _mixed(_mixed(codes + salts[0]) ^ salts[1])
    return (mixed >> np.uint64(64 - bits)).astype(np.int64)


def _salts(function: str) -> Codes:
    digest = hashlib.blake2b(function.encode(), digest_size=16).digest()
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def _mixed(numbers: Codes) -> Codes:
    """Returns a permutation of 64-bit numbers in which every bit depends on all.

    The finalizer of SplitMix64: Steele, Lea and Flood (2014). Products wrap around.
    """
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
