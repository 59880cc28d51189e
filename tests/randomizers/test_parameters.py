"""Options and certificates follow from what a mechanism's class says of itself."""

import pytest
from click.testing import CliRunner

from shuffledp.cli.account_command import account_command
from shuffledp.randomizers.catalog import CATALOG, MECHANISMS, build, mechanism_class
from shuffledp.randomizers.mechanism_text import MechanismText
from shuffledp.randomizers.parameters import parameters_of

# What has to be given: everything else has a default.
NEEDED: dict[str, dict[str, int | float | str]] = {
    "kary-response": {"categories": 5},
    "subset-selection": {"categories": 5, "subset_size": 2},
    "hadamard-response": {"categories": 5},
    "local-hashing": {"categories": 5, "buckets": 3},
    "unary-encoding": {"categories": 5},
    "rappor": {"bits": 8, "hashes": 1},
    "declared-ratios": {"q": 3.0},
    # Exact calibration is what certificates mean that name none.
    "gaussian": {"calibration": "classical"},
}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_parameter_is_explained_and_stands_in_certificates(
    mechanism: str,
) -> None:
    parameters = parameters_of(mechanism)
    built = build(mechanism, NEEDED.get(mechanism, {}))

    assert all(len(parameter.help) > 10 for parameter in parameters)
    names = {parameter.name for parameter in parameters}
    optional = {parameter.name for parameter in parameters if parameter.default is None}
    assert names - optional <= set(built.parameters) <= names


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_command_takes_every_parameter(mechanism: str) -> None:
    built = build(mechanism, NEEDED.get(mechanism, {}))
    text = str(MechanismText(mechanism, built.parameters))

    outcome = CliRunner().invoke(
        account_command,
        ["--mechanism", text, "--levels", "1:40", "--delta", "1e-3"],
    )

    assert outcome.exit_code == 0, outcome.output


def test_a_line_of_the_catalog_names_a_class_of_its_module() -> None:
    for mechanism, entry in CATALOG.items():
        kind = mechanism_class(mechanism)
        assert kind.__name__ == entry.kind
        assert kind.__module__ == f"shuffledp.randomizers.{entry.module}"
