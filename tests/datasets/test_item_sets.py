"""Sets of items: padded, sampled, read strictly."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from shuffledp.datasets import msnbc
from shuffledp.datasets.item_sets import (
    ItemSets,
    draw_uniform_sets,
    gather_sets,
    load_msnbc_sets,
)
from shuffledp.datasets.msnbc import load_msnbc_pages, read_pages
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.randomness import SystemRandom

TEXT = (
    "% Different categories found in input file:\r\n\r\nfrontpage news 1 \r\n\r\n"
    "% Sequences:\r\n\r\n1 1 \r\n17 3 17 \r\n2\r\n9 12 4 1 10 \r\n\r\n11 1 \r\n6 "
)
PAGES = [{0}, {16, 2}, {1}, {8, 11, 3, 0, 9}, {10, 0}, {5}]


def check_sets(found: ItemSets) -> None:
    """Every row is a set of items that have names."""
    ordered = np.sort(found.sets, axis=1)
    assert found.sets.dtype == np.int32
    assert np.all(ordered[:, 1:] > ordered[:, :-1])
    assert ordered.min() >= 0
    assert ordered.max() < found.num_items == len(set(found.names))


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_pages_do_not_depend_on_where_chunks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(msnbc, "_CHUNK", chunk)
    path = tmp_path / "msnbc990928.seq.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))

    pages = read_pages(path, sha256=None)

    assert [set(np.flatnonzero(row).tolist()) for row in pages] == PAGES


@pytest.mark.parametrize("bad", ["18", "0", "111", "99"])
def test_pages_out_of_range_are_refused(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "msnbc990928.seq"
    path.write_text(TEXT.replace("12", bad), newline="")

    with pytest.raises(DataError, match="1 to 17"):
        read_pages(path, sha256=None)


def test_too_many_items_are_sampled_and_too_few_are_padded() -> None:
    people = np.repeat([0, 1, 2, 3], [1, 5, 2, 3])
    items = np.array([4, 0, 1, 2, 3, 4, 4, 0, 1, 2, 3])
    rng, runs = np.random.default_rng(3), 2_000

    seen = np.zeros(5)
    for _ in range(runs):
        found = gather_sets(
            people, items, num_users=4, names=tuple("abcde"), set_size=3, rng=rng
        )
        check_sets(found)
        assert set(found.sets[0].tolist()) == {4, 5, 6}
        assert set(found.sets[2].tolist()) == {4, 0, 5}
        assert set(found.sets[3].tolist()) == {1, 2, 3}
        seen[found.sets[1]] += 1

    assert found.names == ("a", "b", "c", "d", "e", "(no item 1)", "(no item 2)")
    assert found.num_real == 5
    assert found.num_cut == 1
    assert found.shares.tolist() == pytest.approx(found.shares.tolist())
    assert np.sort(found.without_dummies()[0]).tolist() == [-1, -1, 4]
    # Five standard errors of five shares of 0.6: a false alarm in 300,000 seeds.
    assert np.all(np.abs(seen / runs - 0.6) < 5.0 * np.sqrt(0.24 / runs))


def test_shares_are_those_of_the_sets() -> None:
    found = draw_uniform_sets(50, num_items=9, set_size=9, rng=SystemRandom())

    check_sets(found)
    assert found.shares.tolist() == [1.0] * 9
    assert found.names == tuple("012345678")


@pytest.mark.parametrize("set_size", [4, 8])
def test_drawn_sets_are_uniform(set_size: int) -> None:
    n, d = 20_000, 128
    found = draw_uniform_sets(
        n, num_items=d, set_size=set_size, rng=np.random.default_rng(5)
    )

    check_sets(found)
    assert found.sets.shape == (n, set_size)
    share = set_size / d
    allowed = 5.0 * np.sqrt(share * (1.0 - share) / n)
    assert np.all(np.abs(found.shares - share) < allowed)
    pair = np.mean((found.sets == 3).any(axis=1) & (found.sets == 127).any(axis=1))
    together = share * (set_size - 1) / (d - 1)
    assert abs(pair - together) < 5.0 * np.sqrt(together / n)


def test_nonsense_is_refused() -> None:
    rng = np.random.default_rng(1)

    for users, items, size in ((0, 5, 2), (5, 5, 6), (5, 5, 0)):
        with pytest.raises(InvalidInputError):
            draw_uniform_sets(users, num_items=items, set_size=size, rng=rng)


@pytest.mark.slow
@pytest.mark.skipif(
    "SHUFFLEDP_DATA" not in os.environ,
    reason="SHUFFLEDP_DATA does not name a folder with msnbc990928.seq.gz",
)
def test_visitors_have_seventeen_kinds_of_pages_at_most() -> None:
    rng = np.random.default_rng(2)

    pages = load_msnbc_pages()
    found = load_msnbc_sets(set_size=4, num_users=5_000, rng=rng)
    filled = load_msnbc_sets(set_size=4, num_users=5_000, padding="items", rng=rng)

    # Counted with awk: visitors by how many different pages they looked at.
    by_size = np.bincount(pages.sum(axis=1)).tolist()
    assert by_size[:6] == [0, 601_384, 214_392, 94_711, 43_321, 19_692]
    check_sets(found)
    check_sets(filled)
    assert (found.num_items, filled.num_items) == (20, 17)
    assert found.sets.shape == filled.sets.shape == (5_000, 4)
    # Five standard errors: whoever looked at three kinds of pages at most.
    share = sum(by_size[:4]) / len(pages)
    allowed = 5.0 * np.sqrt(share * (1.0 - share) / 5_000)
    assert abs(found.shares[17] - share) < allowed
    for size, users in ((0, 10), (18, 10), (4, 0), (4, 10**6)):
        with pytest.raises(InvalidInputError):
            load_msnbc_sets(set_size=size, num_users=users, rng=rng)
    with pytest.raises(InvalidInputError):
        load_msnbc_sets(padding="none", rng=rng)  # type: ignore[arg-type]
