"""Interface of published protocols for counts, and of their designs."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.multi_message.count_setting import CountSetting


class CountDesign(ABC):
    """Messages of one published protocol, with all its parameters."""

    @property
    @abstractmethod
    def messages(self) -> float:
        """Messages that a person sends, in the mean."""

    @property
    def dummies(self) -> float:
        """Messages that the shuffler adds, in the mean and per person."""
        return 0.0

    @abstractmethod
    def standard_error(self, holders: int) -> float:
        """Returns the standard error of one count, in people.

        Args:
            holders: People in the bucket.
        """

    @abstractmethod
    def certified_delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of delta at `epsilon` >= 0, one answer replaced.

        It holds for noise as it is distributed: devices that draw in double precision are
        not accounted for.
        """

    @abstractmethod
    def draw_estimates(
        self, holders: int, repetitions: int, *, rng: np.random.Generator
    ) -> Floats:
        """Simulates the estimate of one count, shape (repetitions,).

        Args:
            holders: People in the bucket.
            repetitions: How many collections.
            rng: A simulation's generator.
        """


class CountProtocol(ABC):
    """A published protocol for counts: from a guarantee to a design."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]

    @abstractmethod
    def published(self, setting: CountSetting) -> CountDesign:
        """Returns the design that the paper states to have this guarantee.

        Raises:
            OutsidePreconditions: If the paper states none.
        """

    @abstractmethod
    def smallest(self, setting: CountSetting) -> CountDesign:
        """Returns the least noise of this shape that provably has the guarantee.

        Raises:
            CertificationError: If none is found.
        """
