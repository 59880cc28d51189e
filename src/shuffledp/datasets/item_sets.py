"""Sets of s items per person: from visited pages, or drawn at random.

Collections of sets need s different items from each person. Of more, s are sampled
uniformly; missing ones are filled up with dummy items, whose numbers follow those of the
real ones, from d on. Devices treat dummy items like all others; their shares are estimated,
too, and have no meaning.

Shares of items are those of the returned sets: an item of people with more than s items is
in fewer sets than people had it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.datasets.fetch import Progress, no_progress
from shuffledp.datasets.msnbc import MSNBC_CATEGORIES, load_msnbc_pages
from shuffledp.datasets.table_kinds import MAX_TABLE_CATEGORIES
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints

Padding: TypeAlias = Literal["dummies", "items"]

DUMMY = "(no item {})"


@dataclass(frozen=True, eq=False)
class ItemSets:
    """One set of items per person, padded to equal size.

    Attributes:
        sets: Different items in every row, shape (n, s), of type int32.
        names: Of all items, dummy items last.
        num_real: Number of items without dummies.
        num_cut: Number of people who had more than s items.
        levels: Level of each person, shape (n,), if levels were read.
        notes: Sentences on the reading, for reports of the results.
    """

    sets: NDArray[np.int32]
    names: tuple[str, ...]
    num_real: int
    num_cut: int = 0
    levels: Floats | None = None
    notes: tuple[str, ...] = ()

    @property
    def num_items(self) -> int:
        """The number of items, dummies included."""
        return len(self.names)

    @property
    def shares(self) -> Floats:
        """The share of people whose set holds each item, shape (num_items,)."""
        counts = np.bincount(self.sets.ravel(), minlength=self.num_items)
        shares: Floats = counts / self.sets.shape[0]
        return shares

    def without_dummies(self) -> NDArray[np.int32]:
        """Returns the sets with -1, "no item", instead of every dummy item.

        For protocols with Poisson noise, which send nothing for "no item".
        """
        # Dummy items have the largest numbers, from `num_real` on.
        return np.where(self.sets < self.num_real, self.sets, np.int32(-1))


def load_msnbc_sets(
    folder: Path | None = None,
    *,
    set_size: int = 4,
    num_users: int | None = None,
    padding: Padding = "dummies",
    rng: Rng,
    progress: Progress = no_progress,
) -> ItemSets:
    """Loads the different pages that visitors of msnbc.com looked at.

    92% of the visitors looked at fewer than 4 kinds of pages. Wang et al. (2025) pad their
    sets without saying how, and count 17 items: that can only be `padding="items"`,
    which raises the shares of rare pages.

    Args:
        folder: Where the file lies; see `load_msnbc`.
        set_size: s, from 1 to 17: more pages are sampled, fewer are padded.
        num_users: Number of visitors, drawn without replacement; by default all.
        padding: Whether sets are filled with "dummies", or with "items" that the visitor
            did not look at, drawn uniformly.
        rng: The only source of randomness.
        progress: Called with (bytes done, bytes in all or None).

    Raises:
        DataError: If the file is missing, or is not the original.
    """
    pages = load_msnbc_pages(folder, progress=progress)
    if num_users is not None:
        if not 1 <= num_users <= pages.shape[0]:
            raise InvalidInputError(
                f"Expected 1 to {pages.shape[0]} visitors, got {num_users}."
            )
        pages = pages[rng.permutation(pages.shape[0])[:num_users]]
    num_categories = len(MSNBC_CATEGORIES)
    if not 1 <= set_size <= num_categories:
        raise InvalidInputError(
            f"Expected sets of 1 to {num_categories} pages, got {set_size}."
        )
    if padding not in ("dummies", "items"):
        raise InvalidInputError(
            f"Expected padding with 'dummies' or 'items', got {padding!r}."
        )
    if padding == "items":
        # A random subset by the s smallest keys. `pages` is 0 or 1, so that the keys of
        # visited pages are negative, and come first.
        keys = rng.random(pages.size).reshape(pages.shape) - pages
        filled = np.argsort(keys, axis=1)[:, :set_size].astype(np.int32)
        return ItemSets(filled, MSNBC_CATEGORIES, num_categories)
    people, items = np.nonzero(pages)
    return gather_sets(
        people,
        items,
        num_users=pages.shape[0],
        names=MSNBC_CATEGORIES,
        set_size=set_size,
        rng=rng,
    )


def draw_uniform_sets(
    num_users: int, *, num_items: int = 128, set_size: int = 4, rng: Rng
) -> ItemSets:
    """Draws a uniformly random set of s of the d items for each person.

    Args:
        num_users: Number of people, >= 1.
        num_items: d.
        set_size: s, from 1 to d.
        rng: The only source of randomness.
    """
    if num_users < 1:
        raise InvalidInputError(f"Expected at least 1 person, got {num_users}.")
    if not 1 <= set_size <= num_items:
        raise InvalidInputError(
            f"Expected 1 to {num_items} items per person, got {set_size}."
        )
    # Floyd's algorithm: `last` replaces a number that was drawn already.
    sets = np.empty((num_users, set_size), dtype=np.int32)
    for column, last in enumerate(range(num_items - set_size, num_items)):
        drawn = rng.integers(0, last + 1, size=num_users)
        taken = (sets[:, :column] == drawn[:, None]).any(axis=1)
        sets[:, column] = np.where(taken, last, drawn)
    names = tuple(str(item) for item in range(num_items))
    return ItemSets(sets, names, num_items)


def gather_sets(
    people: Ints,
    items: Ints,
    *,
    num_users: int,
    names: tuple[str, ...],
    set_size: int,
    rng: Rng,
) -> ItemSets:
    """Builds sets of s items from distinct pairs of a person and an item.

    Args:
        people: Numbers in [0, num_users), shape (pairs,).
        items: Numbers in [0, len(names)), shape (pairs,).
        num_users: Number of people; some may have no item.
        names: Of the items.
        set_size: s, at least 1.
        rng: The only source of randomness.
    """
    real = len(names)
    if not 1 <= set_size <= MAX_TABLE_CATEGORIES:
        raise InvalidInputError(f"Expected sets of at least 1 item, got {set_size}.")
    # The pairs in random order, grouped by person; the first s of a person stay.
    shuffled = rng.permutation(people.size)
    order = shuffled[np.argsort(people[shuffled], kind="stable")]
    owners = people[order]
    starts = np.searchsorted(owners, np.arange(num_users))
    ranks = np.arange(owners.size) - starts[owners]
    selected = ranks < set_size
    num_held = np.bincount(people, minlength=num_users)
    sizes = np.minimum(num_held, set_size)
    # As many as the smallest set lacks; larger sets use the first of them.
    dummies = set_size - int(sizes.min())
    # Dummy items fill rows from their ends, the first dummy at the very end.
    sets = np.empty((num_users, set_size), dtype=np.int32)
    sets[:] = real + np.arange(set_size - 1, -1, -1)
    sets[owners[selected], ranks[selected]] = items[order][selected]
    dummy_names = tuple(DUMMY.format(number + 1) for number in range(dummies))
    return ItemSets(sets, names + dummy_names, real, int(np.sum(num_held > set_size)))
