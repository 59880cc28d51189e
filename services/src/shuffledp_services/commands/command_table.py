"""Commands that the services add to `shuffledp`."""

from shuffledp.cli.installed_commands import CommandTable, LazyCommand

COMMANDS: CommandTable = {
    "": {
        "explore": LazyCommand(
            "shuffledp_services.commands.explore_command:explore_command",
            "Play with levels and people on a page, and see the certified guarantees.",
        ),
        "task": LazyCommand(
            "shuffledp_services.commands.task_command:task_group",
            "A question that real people answer: agree on it; close and begin its epochs.",
        ),
        "enrol": LazyCommand(
            "shuffledp_services.commands.enrol_command:enrol_command",
            "Write one token per person, and the roster that the shuffler checks them "
            "with.",
        ),
        "serve": LazyCommand(
            "shuffledp_services.commands.serve_command:serve_group",
            "Run a shuffler or an analyst; or both, with simulated devices: serve demo.",
        ),
        "device": LazyCommand(
            "shuffledp_services.commands.device_command:device_group",
            "Devices, simulated: randomize and seal answers, and send them to a shuffler.",
        ),
    },
    "audit": {
        "canaries": LazyCommand(
            "shuffledp_services.commands.audit_canaries:canaries_command",
            "Send canaries to a collection, to audit later how it treated them.",
        ),
        "collection": LazyCommand(
            "shuffledp_services.commands.audit_collection:collection_command",
            "Test the result of an epoch against canaries' RECORD, from `audit canaries`.",
        ),
        "dummies": LazyCommand(
            "shuffledp_services.commands.audit_dummies:dummies_command",
            "Check that a shuffler added the dummies it had to, with its OPENED seed.",
        ),
    },
}
