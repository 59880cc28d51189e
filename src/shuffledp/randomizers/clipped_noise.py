"""Base of noise mechanisms whose messages stay within the value range [-C, C]."""

from abc import abstractmethod

from shuffledp.randomizers.noise import AddedNoise


class ClippedNoise(AddedNoise):
    """Noise whose messages lie in [-C, C], like the values, at pure local privacy."""

    @property
    @abstractmethod
    def clip(self) -> float:
        """C > 0."""

    @property
    def low(self) -> float:
        """Smallest possible value."""
        return -float(self.clip)

    @property
    def high(self) -> float:
        """Largest possible value."""
        return float(self.clip)

    @property
    def cells_beyond(self) -> int:
        """Messages stay within the range."""
        return 0

    @property
    def delta_local(self) -> float:
        """0: pure local privacy."""
        return 0.0
