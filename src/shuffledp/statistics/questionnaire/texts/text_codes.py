"""Short texts as whole numbers, so that a prefix of a text is a prefix of its bits.

A text of at most L symbols is a number of L digits in base B: digits are symbols, counted
from 1, and 0 behind the end. Symbols are the bytes of UTF-8, or letters of an alphabet,
which takes fewer bits.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number
from shuffledp.statistics.questionnaire.hashed.bucket_hash import Codes

MOST_BITS = 64
_MOST_LETTERS = 255


@dataclass(frozen=True)
class TextCodes:
    """Whole numbers below 2^64 for texts of at most `longest` symbols.

    >>> codes = TextCodes(4, "abcdefghijklmnopqrstuvwxyz")
    >>> numbers, fits = codes.encode(["tea", "coffee", "mate"])
    >>> fits.tolist(), codes.decode(numbers[fits])
    ([True, False, True], ['tea', 'mate'])
    >>> codes.bits
    20

    Attributes:
        longest: L, symbols of the longest text, at least 1.
        alphabet: Different letters, at most 255; None: bytes of UTF-8.
    """

    longest: int
    alphabet: str | None = None

    def __post_init__(self) -> None:
        whole_number(self.longest, "symbols of a text", least=1, most=MOST_BITS)
        letters = self.alphabet
        if letters is not None and (
            not isinstance(letters, str)
            or not 1 <= len(letters) <= _MOST_LETTERS
            or len(set(letters)) < len(letters)
        ):
            raise InvalidInputError(
                f"Expected an alphabet of 1 to {_MOST_LETTERS} different letters."
            )
        if self.bits > MOST_BITS:
            raise InvalidInputError(
                f"Expected texts of at most {MOST_BITS} bits, got {self.bits}: expected "
                "shorter texts, or a smaller alphabet."
            )

    @property
    def base(self) -> int:
        """B, the number of symbols and 1 for the end."""
        return 256 if self.alphabet is None else len(self.alphabet) + 1

    @property
    def bits(self) -> int:
        """Bits of a code."""
        return int(self.base**self.longest - 1).bit_length()

    def encode(self, texts: Iterable[str | None]) -> tuple[Codes, NDArray[np.bool_]]:
        """Returns codes, shape (n,), and which texts have one, shape (n,).

        Args:
            texts: None or an empty text stands for no answer. Texts that are too long, or
                hold other symbols, have no code.

        Raises:
            InvalidInputError: If one is neither a text nor None.
        """
        raw = [self._symbols(text) for text in texts]
        fits = np.array([symbols is not None for symbols in raw], dtype=np.bool_)
        padded = b"".join((each or b"").ljust(self.longest, b"\0") for each in raw)
        symbols = np.frombuffer(padded, dtype=np.uint8).reshape(-1, self.longest)
        codes = np.zeros(len(raw), dtype=np.uint64)
        for column in symbols.T:
            codes = codes * np.uint64(self.base) + column
        return codes, fits

    def decode(self, codes: Codes) -> list[str | None]:
        """Returns the text of each code, or None for a number that no text has."""
        remaining_codes, columns = codes.copy(), []
        for _ in range(self.longest):
            columns.append((remaining_codes % np.uint64(self.base)).astype(np.uint8))
            remaining_codes = remaining_codes // np.uint64(self.base)
        symbols = np.stack(columns[::-1], axis=1)
        ended = symbols == 0
        # Nothing may follow an end, and no text is empty.
        valid = ~np.any(ended[:, :-1] & ~ended[:, 1:], axis=1)
        valid &= ~ended[:, 0] & (remaining_codes == 0)
        return [
            self._text(row.tobytes().rstrip(b"\0")) if is_valid else None
            for row, is_valid in zip(symbols, valid.tolist(), strict=True)
        ]

    def _symbols(self, text: str | None) -> bytes | None:
        if text is not None and not isinstance(text, str):
            raise InvalidInputError("Expected texts, or None for no answer.")
        if not text:
            return None
        if self.alphabet is None:
            try:
                symbols = text.encode("utf-8")
            except UnicodeEncodeError:
                # Half of a surrogate pair has no bytes in UTF-8.
                return None
        else:
            if not set(text) <= set(self.alphabet):
                return None
            symbols = bytes(self.alphabet.index(letter) + 1 for letter in text)
        return symbols if len(symbols) <= self.longest and 0 not in symbols else None

    def _text(self, symbols: bytes) -> str | None:
        if self.alphabet is not None:
            return "".join(self.alphabet[symbol - 1] for symbol in symbols)
        try:
            return symbols.decode("utf-8")
        except UnicodeDecodeError:
            return None
