"""Commands and options of earlier versions: refused, with their successors."""

import pytest
from command_line import Command


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("account --honest-fraction 0.9", "Write --absent 10%"),
        ("calibrate people --honest-fraction 0.9", "Write --absent 10%"),
        ("calibrate scale --categories 17", 'as "kary-response(categories=...)"'),
        ("audit randomizer one-bit --categories 17", '"kary-response(categories=...)"'),
        ("calibrate levels --mode stratified", "high=4, mode=stratified)"),
        ("account --mode stratified", "high=4, mode=stratified)"),
        ("calibrate level --change 1 --target 2", "Write --change LEVEL:EPSILON."),
        ("calibrate levels --target 0.1:500", ""),
        ("estimate visits.csv --person who --item page", "Write --value COLUMN."),
        ("device send visits.csv --item page", "Write --value COLUMN."),
        ("audit canaries --task task.json --count 9 --power", "Leave it out"),
        ("task create survey --subset-size 3", '--mechanism "NAME(subset_size=...)"'),
        ("task create survey --values 9", '--mechanism "NAME(values=...)"'),
        ("calibrate rounds --rounds 2", "They are what is computed."),
        ("estimate answers.csv --honest-fraction 0.9", ""),
        ("train apes --distribution apes/gauss1", "Write --levels"),
        ("account --distribution apes/gauss1", ""),
    ],
)
def test_what_replaces_an_option_is_an_option_of_the_command(
    words: str, hint: str, command: Command
) -> None:
    outcome = command(*words.split())

    assert outcome.is_refusal
    assert hint in outcome.err
    assert hint or "Write" not in outcome.err
    assert "Did you mean" not in outcome.err or not hint


def test_a_former_command_names_the_one_that_replaces_it(command: Command) -> None:
    outcome = command("court", "--case", "V8c")

    assert outcome.is_refusal
    assert "No such command 'court'. Write shuffledp claims." in outcome.err
