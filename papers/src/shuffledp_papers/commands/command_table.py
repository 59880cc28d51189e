"""Commands that the papers add to `shuffledp`."""

from shuffledp.cli.installed_commands import CommandTable, LazyCommand

COMMANDS: CommandTable = {
    "": {
        "reproduce": LazyCommand(
            "shuffledp_papers.commands.reproduce_command:reproduce_command",
            "Recompute a table or figure of a paper; without NAME, list them.",
        ),
        "court": LazyCommand(
            "shuffledp_papers.commands.court_command:court_command",
            "Try published bounds against exact attacks.",
        ),
    },
}
