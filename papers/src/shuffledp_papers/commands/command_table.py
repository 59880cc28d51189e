"""Commands that the papers add to `shuffledp`."""

from shuffledp.cli.installed_commands import CommandTable, LazyCommand

COMMANDS: CommandTable = {
    "": {
        "reproduce": LazyCommand(
            "shuffledp_papers.commands.reproduce_command:reproduce_command",
            "Recompute a table or figure of a paper; without NAME, list them.",
        ),
        "leaderboard": LazyCommand(
            "shuffledp_papers.commands.leaderboard_command:leaderboard_command",
            "Compare all published bounds with certificate and attack on a fixed grid.",
        ),
        "claims": LazyCommand(
            "shuffledp_papers.commands.claims_command:claims_command",
            "Check published claims against exact attacks.",
        ),
    },
}
