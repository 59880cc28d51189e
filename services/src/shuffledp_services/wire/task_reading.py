"""Parser of tasks."""

from shuffledp.statistics.survey import Offer
from shuffledp_services.wire.canonical import from_text, read_object, to_number
from shuffledp_services.wire.notice import Notice
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.task import (
    DIGEST_SIZE,
    DUMMY_COMMITMENT,
    ID_SIZE,
    KEYS,
    NUMBERS,
    PLAN_RULE,
    VERSION,
    Task,
    key_sizes,
)

_LISTS = ("minimum", *NUMBERS)
_NAMES = frozenset(
    {"version", "task_id", "name", "notice", "question", "protocol"}
    | {"delta", "absent", "suite", "succeeds"}
    | {*_LISTS, *KEYS}
)


def read_task(content: bytes | str) -> Task:
    """Parses the output of `Task.to_json`.

    Raises:
        Refusal: If the content is not a task of this version.
        InvalidInputError: If a value is out of range.
    """
    value = read_object(content, "a task")
    names = set(value) - {PLAN_RULE, DUMMY_COMMITMENT}
    if value.get("version") != VERSION or names != _NAMES:
        raise Refusal(
            Reason.MALFORMED,
            f"Expected a task of version {VERSION}, with all its members and no others.",
        )
    for name in _LISTS:
        if not isinstance(value[name], list):
            raise Refusal(Reason.MALFORMED, f"Expected {name} as a list.")
    if any(type(count) is not int for count in value["minimum"]):
        raise Refusal(Reason.MALFORMED, "Expected minimum as whole numbers.")
    choices, promise, allowance = (
        tuple(to_number(entry, name) for entry in value[name]) for name in NUMBERS
    )
    # `to_dict` writes delta as a float: an int would give another digest.
    numbers = type(value["delta"]) is float and type(value["absent"]) is int
    if not numbers or not isinstance(value["name"], str):
        raise Refusal(Reason.MALFORMED, "Expected a name, delta and absent people.")
    if value["suite"] not in list(Suite):
        raise Refusal(Reason.MALFORMED, f"Expected a suite of {list(Suite)}.")
    suite = Suite(value["suite"])
    keys = {
        name: from_text(value[name], size, name)
        for name, size in zip(KEYS, key_sizes(suite), strict=True)
    }
    succeeds, absent = value["succeeds"], value["absent"]
    question = Question.from_dict(value["question"])
    rule = commitment = None
    if DUMMY_COMMITMENT in value:
        commitment = from_text(value[DUMMY_COMMITMENT], DIGEST_SIZE, "a commitment")
    if PLAN_RULE in value:
        offer = Offer(choices, value["delta"], absent)
        # The survey reads its own kind of rule.
        rule = question.survey.choosing(offer).read_rule(value[PLAN_RULE])
    task = Task(
        task_id=from_text(value["task_id"], ID_SIZE, "a task id"),
        name=value["name"],
        notice=Notice.from_dict(value["notice"]),
        question=question,
        choices=choices,
        minimum=tuple(value["minimum"]),
        promise=promise,
        allowance=allowance,
        delta=value["delta"],
        absent=absent,
        suite=suite,
        **keys,
        succeeds=None
        if succeeds is None
        else from_text(succeeds, DIGEST_SIZE, "a digest"),
        plan_rule=rule,
        dummy_commitment=commitment,
    )
    # The protocol is derived from the question; the stated one shows readers what runs.
    if value["protocol"] != task.protocol.record:
        raise Refusal(
            Reason.MALFORMED,
            f"Expected a task whose question is answered by {task.protocol}.",
        )
    return task
