"""Services and devices name no statistic and no mechanism: they read what these declare."""

from pathlib import Path

from named_places import named_in, sources

import shuffledp_services
from shuffledp.randomizers.catalog import MECHANISMS
from shuffledp.statistics.statistic_catalog import STATISTICS

ROOT = Path(str(shuffledp_services.__file__)).parent
# A mechanism that runs in a browser has a file in TypeScript, too.
DEVICE = Path(__file__).parents[2] / "device/src"
OWN = DEVICE / "mechanisms"
# Files that name a statistic for a reason. One that no longer does is taken off.
REASONS = {
    "demo/local_parties.py": "a demonstration asks one question",
}
FILES = [*sources(ROOT), *(path for path in sources(DEVICE) if path.parent != OWN)]


def test_no_file_names_a_statistic() -> None:
    named = {
        str(path).removeprefix(f"{ROOT}/"): places
        for path in FILES
        if (places := named_in(path, STATISTICS, "shuffledp.statistics"))
    }

    assert {path.suffix for path in FILES} == {".py", ".js", ".mjs", ".ts", ".html"}
    assert set(named) == set(REASONS), named


def test_no_file_but_that_of_its_page_names_a_mechanism() -> None:
    named = {
        path: places
        for path in FILES
        if (places := named_in(path, MECHANISMS, "shuffledp.randomizers"))
    }
    own = {path for path in sources(OWN) if named_in(path, MECHANISMS)}

    assert not named
    assert {path.stem for path in own} <= set(MECHANISMS)
    assert len(own) >= 4
