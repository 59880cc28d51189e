"""Uploads that are committed in one transaction, and the outcome of each report.

Each token and each sealed message counts once in a step: a copy of another participant's
message is refused.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.shuffler.keyed_digests import distinct_digests
from shuffledp_services.shuffler.store import Arrivals
from shuffledp_services.shuffler.upload import Upload


class ReportOutcome(IntEnum):
    """Outcome of a report that passed the checks of its upload."""

    ACCEPTED = 0
    SPENT = 1
    REPEATED = 2


class CommitGroup:
    """Uploads to the same step that are committed together.

    Attributes:
        state: The open step.
        keyed_digests: All distinct digests in increasing order, shape
            (k, KEYED_DIGEST_SIZE).
    """

    def __init__(self, uploads: list[Upload]) -> None:
        self.state = uploads[0].state
        self._sizes = [upload.positions.size for upload in uploads]
        self._choices = np.concatenate([upload.choices for upload in uploads])
        self._sealed = np.concatenate([upload.sealed for upload in uploads])
        self.keyed_digests, self._indices, self._repeated = distinct_digests(
            np.concatenate([upload.keyed_digests for upload in uploads])
        )
        self._outcomes = np.zeros(len(self._choices), dtype=np.int8)

    def arrivals(self, known: NDArray[np.bool_]) -> Arrivals:
        """Decides the outcome of every report, and returns the accepted ones.

        Args:
            known: Which of `keyed_digests` were stored before, shape (k,).
        """
        self._decide(known)
        accepted = np.flatnonzero(self._outcomes == ReportOutcome.ACCEPTED)
        step, choices = self.state.step, self._choices[accepted]
        if step.task.choices_are_levels:
            # One count per choice, or one in all: see `TaskRecord.people`.
            people = np.bincount(choices, minlength=len(step.task.choices)).tolist()
        else:
            people = [len(accepted)]
        groups = (
            [accepted[choices == group] for group in range(step.groups)]
            if step.linked
            else [accepted]
        )
        stored = np.zeros(len(self.keyed_digests), dtype=np.bool_)
        stored[self._indices[accepted]] = True
        return Arrivals(
            tuple(people),
            [self._shuffled_messages(rows) for rows in groups],
            self.keyed_digests[stored],
        )

    def outcomes(self) -> list[NDArray[np.int8]]:
        """Returns one array per upload: the `ReportOutcome` of each of its reports."""
        # The reports of all uploads are concatenated: cut at the upload boundaries.
        return np.split(self._outcomes, np.cumsum(self._sizes)[:-1])

    def _decide(self, known: NDArray[np.bool_]) -> None:
        self._outcomes[:] = ReportOutcome.ACCEPTED
        # Column 0 is the token of a report, the others are its messages.
        stored = known[self._indices]
        spent = stored[:, 0]
        repeated = np.any(stored[:, 1:], axis=1)
        # A digest that occurs more than once in this group counts where it occurs first.
        # Only these rows need a Python loop: a few thousand copies at most.
        has_duplicates = self._repeated[self._indices].any(axis=1)
        seen = set[int]()
        for row in np.flatnonzero(has_duplicates).tolist():
            token, *messages = self._indices[row].tolist()
            if len({*messages}) < len(messages) or not seen.isdisjoint(messages):
                repeated[row] = True
            elif token in seen:
                spent[row] = True
            elif not spent[row] and not repeated[row]:
                seen.update((token, *messages))
        # REPEATED takes precedence: a sender of a copied message must not learn whether
        # the token was spent, or they could test, without a trace, which owners of links
        # they have seen answered.
        self._outcomes[spent] = ReportOutcome.SPENT
        self._outcomes[repeated] = ReportOutcome.REPEATED

    def _shuffled_messages(self, rows: NDArray[np.int64]) -> bytes:
        """Returns messages in the order of their digests, which hides that of arrival."""
        messages = self._sealed[rows].reshape(-1, self._sealed.shape[-1])
        order = np.argsort(self._indices[rows, 1:].ravel())
        return messages[order].tobytes()
