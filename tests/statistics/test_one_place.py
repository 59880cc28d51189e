"""A statistic is named in its folder and the catalog, a mechanism in its file and its own.

Everything else reads what they declare.
"""

from pathlib import Path

import pytest
from named_places import named_in, sources

import shuffledp
from shuffledp.randomizers.catalog import CATALOG, MECHANISMS
from shuffledp.statistics.statistic_catalog import (
    ENCODINGS,
    EXPLORATIONS,
    PLANS,
    STATISTICS,
    SURVEYS,
    UNREHEARSED,
    plan_named,
    statistic_named,
)

ROOT = Path(shuffledp.__file__).parent
FILES = sources(ROOT)
# Public names stand once, too: a map from each to its module.
CATALOGS = {
    ROOT / "__init__.py",
    ROOT / "statistics/statistic_catalog.py",
    ROOT / "randomizers/catalog.py",
}
# Files that use the word, or say why no declaration can be read. A file that no longer
# does leaves the list: the test fails until it is taken off.
OTHER_MEANINGS_OF_STATISTICS = {
    "accounting/assumptions.py": "items are what a bound rests on",
    "accounting/items/items_exposure.py": "items are what a bound rests on",
    "accounting/counts/rate_statement.py": "items are what a bound rests on",
    "accounting/statement.py": "items are what a bound rests on",
    "accounting/items/items_parameters.py": "accounting imports no statistic, and states "
    "the record of the noise that it chose",
    "datasets/item_sets.py": "padding with items, beside padding with dummies",
    "randomizers/bloom.py": "strings are called so in an error",
    "randomizers/items.py": "items are called so in an error",
    "randomizers/subset_exponential.py": "items are called so in an error",
    "statistics/counts/counts_plan.py": "one message is compared beside several",
    "statistics/questionnaire/number_question.py": "the label of an estimate",
    "statistics/questionnaire/rehearsed/group_columns.py": "what a row estimates",
    "statistics/questionnaire/rehearsed/number_columns.py": "what a row estimates",
    "stored_state.py": "items of a dictionary",
}
OTHER_MEANINGS_OF_MECHANISMS = {
    "cli/account_command.py": "help of an option about a published bound of one",
    "statistics/frequency/survey.py": "help of a term that tasks state for one",
    "statistics/mean/plan_command.py": "messages of one bit, of whichever mechanism",
    "statistics/shared_parameters.py": "an example in a help text",
    "federated/noisy_steps.py": "noise of a whole step of training, and no randomizer",
}
# Files that import the class of a mechanism to build something of it. What tells
# mechanisms apart by their classes belongs into their files instead.
PARTS_OF_OTHERS = {
    "analyzer/choice_counts.py": "choices are reported by one mechanism",
    "federated/baseline_vectors.py": "a vector is coordinates of one mechanism",
    "federated/clip_laplace_vectors.py": "a vector is coordinates of one mechanism",
    "federated/sparsified_vectors.py": "a vector is coordinates of one mechanism",
    "randomizers/sampled_clip_laplace.py": "a mechanism on a sample of coordinates",
    "statistics/frequency/protocol.py": "the default of a public class",
    "statistics/mean/protocol.py": "the default of a public class",
    "statistics/sum/protocol.py": "the one mechanism of a protocol",
    "statistics/strings/protocol.py": "the one mechanism of a protocol",
    "statistics/strings/rappor_devices.py": "the one mechanism of a protocol",
    "statistics/choices.py": "the one mechanism of a protocol",
    "statistics/counts/local_floor.py": "answers are randomized by one mechanism",
    # These tell classes apart, so that a test shares no code with the mechanism.
    "testing/message_distribution.py": "an oracle of each mechanism",
    "testing/message_sender.py": "an oracle of reports of bits",
    "federated/simulated_messages.py": "a simulation draws sums of each mechanism",
    "audit/small_collection.py": "random mechanisms for an audit of accountants",
}


def others_that_name(
    names: tuple[str, ...], own: set[Path], folder: str
) -> dict[str, list[str]]:
    named = {
        str(path.relative_to(ROOT)): named_in(path, names, folder)
        for path in FILES
        if path not in CATALOGS | own
    }
    return {path: places for path, places in named.items() if places}


@pytest.mark.slow
def test_nothing_outside_its_folder_names_a_statistic() -> None:
    own = {
        path
        for name in STATISTICS
        for path in FILES
        if path.is_relative_to(ROOT / "statistics" / name)
    }

    named = others_that_name(STATISTICS, own, "shuffledp.statistics")

    assert len(own) >= 4 * len(STATISTICS)
    assert set(named) == set(OTHER_MEANINGS_OF_STATISTICS), named


@pytest.mark.slow
def test_nothing_outside_its_file_names_a_mechanism() -> None:
    own = {ROOT / "randomizers" / f"{entry.module}.py" for entry in CATALOG.values()}

    named = others_that_name(MECHANISMS, own, "shuffledp.randomizers")

    assert own < set(FILES)
    assert set(named) == set(OTHER_MEANINGS_OF_MECHANISMS | PARTS_OF_OTHERS), named


@pytest.mark.parametrize("name", STATISTICS)
def test_the_catalog_knows_a_statistic_by_its_own_name(name: str) -> None:
    assert statistic_named(name).words.name == name


@pytest.mark.parametrize("listed", [SURVEYS, PLANS, EXPLORATIONS])
def test_what_can_be_asked_planned_or_explored_is_a_statistic(
    listed: tuple[str, ...],
) -> None:
    assert set(listed) <= {*STATISTICS, *UNREHEARSED, *ENCODINGS}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_declares_options_that_its_description_uses(name: str) -> None:
    declaration = plan_named(name)

    needed = [each.option for each in declaration.parameters if each.required]
    assert needed
    assert all(f"--{option} " in declaration.description for option in needed)


@pytest.mark.parametrize(
    ("file", "text", "places"),
    [
        ("a.py", 'KIND = "mean"', ["1: 'mean'"]),
        ("a.py", '"""The mean."""\n# "mean"', []),
        ("a.py", "import x.mean\nfrom x.mean.y import z", ["2: x.mean.y"]),
        ("a.py", 'KIND = f"a {x} one-bit."', ["1: ' one-bit.'"]),
        ("a.py", 'def f():\n    """As one-bit."""', []),
        ("a.mjs", 'const kind = "mean"; // "mean"', ['"mean"']),
        ("a.js", '// "mean"\n/* "mean" */ const x = "meaning";', []),
        ("a.js", "const kinds = { mean: { low: 0 } };", ["mean"]),
        ("a.html", '<label data-of="mean" hidden>mean</label>', ["mean"]),
    ],
)
def test_a_name_is_found_in_code_and_not_in_prose(
    tmp_path: Path, file: str, text: str, places: list[str]
) -> None:
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")

    assert named_in(path, ("mean", "one-bit"), "x") == places
