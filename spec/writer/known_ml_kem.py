"""ML-KEM-768 (FIPS 203) with stated randomness, so that test vectors repeat.

Devices draw the 32 bytes of an encapsulation; here they are an argument. Not for secrets:
how long it takes depends on them.
"""

import hashlib
from collections.abc import Iterator
from functools import reduce

_Q, _N, _K = 3329, 256, 3
_Poly = list[int]
# Powers of 17, a root of unity of order 256, in the order of 7 bits reversed.
_REVERSED = [int(f"{index:07b}"[::-1], 2) for index in range(128)]
_ZETAS = [pow(17, exponent, _Q) for exponent in _REVERSED]
_GAMMAS = [pow(17, 2 * exponent + 1, _Q) for exponent in _REVERSED]


def encapsulate_with(randomness: bytes, public_key: bytes) -> tuple[bytes, bytes]:
    """Returns the shared secret, 32 bytes, and the encapsulated key (algorithm 17).

    Args:
        randomness: m, 32 bytes.
        public_key: 1,184 bytes.
    """
    digest = hashlib.sha3_256(public_key).digest()
    both = hashlib.sha3_512(randomness + digest).digest()
    return both[:32], _encrypt(public_key, randomness, both[32:])


def _encrypt(public_key: bytes, message: bytes, randomness: bytes) -> bytes:
    """Algorithm 14."""
    rho = public_key[384 * _K :]
    parts = (public_key[384 * row : 384 * (row + 1)] for row in range(_K))
    key = [_decoded(part, 12) for part in parts]
    drawn = [_binomial(randomness, number) for number in range(2 * _K + 1)]
    secret = [_transform(poly) for poly in drawn[:_K]]
    u = [
        _sum(
            _dot([_uniform(rho, column, row) for row in range(_K)], secret),
            drawn[_K + column],
        )
        for column in range(_K)
    ]
    halves = [(_Q + 1) // 2 * bit for bit in _decoded(message, 1)]
    v = _sum(_sum(_dot(key, secret), drawn[-1]), halves)
    return b"".join(_compressed(poly, 10) for poly in u) + _compressed(v, 4)


def _uniform(rho: bytes, column: int, row: int) -> _Poly:
    """Algorithm 7, of entry (row, column) of the matrix."""
    # Far more bytes than are ever used.
    stream = hashlib.shake_128(rho + bytes([column, row])).digest(3 * 2 * _N)
    pairs = (stream[start : start + 3] for start in range(0, len(stream), 3))
    numbers = (
        number
        for low, middle, high in pairs
        for number in (low + 256 * (middle % 16), middle // 16 + 16 * high)
    )
    return [number for number in numbers if number < _Q][:_N]


def _binomial(randomness: bytes, number: int) -> _Poly:
    """Algorithm 8, for eta = 2."""
    stream = hashlib.shake_256(randomness + bytes([number])).digest(128)
    bits = _decoded(stream, 1)
    return [
        (a + b - c - d) % _Q
        for a, b, c, d in zip(*(bits[place::4] for place in range(4)), strict=True)
    ]


def _decoded(content: bytes, size: int) -> list[int]:
    """Algorithm 6: numbers of so many bits, the lowest first."""
    whole = int.from_bytes(content, "little")
    return [
        whole >> place & (1 << size) - 1 for place in range(0, 8 * len(content), size)
    ]


def _compressed(poly: _Poly, size: int) -> bytes:
    """Equation 4.7 and algorithm 5."""
    numbers = (((entry << size) + _Q // 2) // _Q % (1 << size) for entry in poly)
    whole = sum(number << size * place for place, number in enumerate(numbers))
    return whole.to_bytes(_N * size // 8, "little")


def _blocks(length: int) -> Iterator[int]:
    return iter(range(0, _N, 2 * length))


def _transform(poly: _Poly) -> _Poly:
    """Algorithm 9."""
    result, index = list(poly), 1
    for length in (128, 64, 32, 16, 8, 4, 2):
        for start in _blocks(length):
            for place in range(start, start + length):
                turned = _ZETAS[index] * result[place + length]
                result[place + length] = (result[place] - turned) % _Q
                result[place] = (result[place] + turned) % _Q
            index += 1
    return result


def _inverse(poly: _Poly) -> _Poly:
    """Algorithm 10."""
    result, index = list(poly), 127
    for length in (2, 4, 8, 16, 32, 64, 128):
        for start in _blocks(length):
            for place in range(start, start + length):
                first, second = result[place], result[place + length]
                result[place] = (first + second) % _Q
                result[place + length] = _ZETAS[index] * (second - first) % _Q
            index -= 1
    return [3303 * entry % _Q for entry in result]


def _dot(first: list[_Poly], second: list[_Poly]) -> _Poly:
    """The inverse transform of a sum of products (algorithms 11 and 12)."""
    products = (_product(a, b) for a, b in zip(first, second, strict=True))
    return _inverse(reduce(_sum, products))


def _product(first: _Poly, second: _Poly) -> _Poly:
    result = []
    for place, gamma in enumerate(_GAMMAS):
        a, b = first[2 * place : 2 * place + 2]
        c, d = second[2 * place : 2 * place + 2]
        result += [(a * c + b * d * gamma) % _Q, (a * d + b * c) % _Q]
    return result


def _sum(first: _Poly, second: _Poly) -> _Poly:
    return [(a + b) % _Q for a, b in zip(first, second, strict=True)]
