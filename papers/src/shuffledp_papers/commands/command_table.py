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
        # One command under two names; the first is the plain one.
        **dict.fromkeys(
            ("claims", "court"),
            LazyCommand(
                "shuffledp_papers.commands.court_command:court_command",
                "Check published claims against exact attacks.",
            ),
        ),
    },
}
