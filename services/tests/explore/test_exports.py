"""Programs of a statistic that has no public name."""

from typing import Any

import pytest

import shuffledp as sdp
from shuffledp.statistics.statistic_catalog import exploration_named
from shuffledp_services.explore import explore_query
from shuffledp_services.explore.exports import python_of


class Shares(sdp.Frequency):
    """A protocol outside of the package."""


class SharesExploration:
    """Explores `Shares`."""

    def protocol(self, terms: Any, mode: Any, mechanism: str, settings: Any) -> Shares:
        """See `Exploration`."""
        usual = exploration_named("frequency").protocol(
            terms, mode, mechanism, settings
        )
        return Shares(usual.num_categories, mode, usual.randomizer)


def test_a_protocol_without_a_public_name_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    explored = explore_query.read_query({"levels": "0.5:60,1:90", "categories": "5"})
    monkeypatch.setattr(
        explore_query, "exploration_named", lambda _name: SharesExploration()
    )

    text = python_of(explored)

    assert f"from {__name__} import Shares\n" in text
    program: dict[str, Any] = {}
    exec(text, program)
    assert isinstance(program["protocol"], Shares)
    assert program["protocol"].num_categories == 5
