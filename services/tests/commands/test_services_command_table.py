"""The core knows which commands come with this distribution, for those without it."""

from shuffledp.cli import installed_commands
from shuffledp_services.commands.command_table import COMMANDS


def test_the_core_names_this_distribution_for_each_of_its_commands() -> None:
    named = {
        (group, name)
        for group, suppliers in installed_commands.SUPPLIED.items()
        for name in suppliers.get("shuffledp-services", ())
    }

    assert named == {
        (group, name) for group, table in COMMANDS.items() for name in table
    }
