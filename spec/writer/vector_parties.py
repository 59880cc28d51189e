"""Parties and tasks of the test vectors: fixed keys, which are published.

Analyst, shuffler and enroller have one key each in all vectors; every task that is made
here is theirs.
"""

from dataclasses import replace

from shuffledp.asked_question import AskedQuestion
from shuffledp.identity import Identity
from shuffledp.statistics.counts.survey import CountsSurvey
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.statistic_catalog import survey_named
from shuffledp.statistics.survey import Offer, survey_in
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.notice import Notice
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.sealing import Suite, public_key_of
from shuffledp_services.wire.signing import verify_key_of
from shuffledp_services.wire.task import Task

ANALYST_PRIVATE = bytes.fromhex(
    "347bf4b98749ced5aca302d89577bd16a8595e354545b6515f29bd02cd4edab7"
)
ANALYST = bytes.fromhex(
    "cf2561636075e82fb025d2a13344d385e39902e1157f878e594813debd0bd537"
)
SHUFFLER = bytes.fromhex(
    "bed89707e879e04362cc8fe64693673896c27e650c4d75b963b62d14acb6a710"
)
ENROLLER = bytes.fromhex(
    "103b0549cf402b10e04ab33e08b447d64079791cf8eedbc67cdca0c849420e74"
)
SIGNING_KEYS = {
    Role.ANALYST: ANALYST,
    Role.SHUFFLER: SHUFFLER,
    Role.ENROLLER: ENROLLER,
}
TOKENS = (
    bytes.fromhex("6465666768696a6b6c6d6e6f70717273734722cb97365a8fac2a8f8b2d3e0fe4"),
    bytes.fromhex("183411858409390d8bb291f8dc8bfb33176580b7ca727a73f510f745e8c5cc7f"),
)
EPOCH = 7


def key_texts() -> dict[str, str]:
    """Returns the secret keys, and the public one of the analyst, in base64url."""
    return {
        "analyst_private_key": to_text(ANALYST_PRIVATE),
        "analyst_public_key": to_text(public_key_of(Suite.X25519, ANALYST_PRIVATE)),
        "analyst_signing_key": to_text(ANALYST),
        "shuffler_signing_key": to_text(SHUFFLER),
        "enroller_signing_key": to_text(ENROLLER),
    }


def color_task(
    *,
    task_id: bytes = bytes(range(16)),
    minimum: tuple[int, ...] = (100, 200, 300),
    promise: tuple[float, ...] = (0.25, 0.5, 1.0),
    succeeds: bytes | None = None,
    shuffler_key: bytes = SHUFFLER,
) -> Task:
    """Returns a task about three colors at three levels.

    Args:
        task_id: 16 bytes.
        minimum: People per level.
        promise: Central epsilon per level and epoch; the allowance is ten times as much.
        succeeds: Digest of the task whose keys it replaces.
        shuffler_key: The shuffler's secret key.
    """
    terms = {
        "categories": ["red", "green", "grau-grün"],
        "mechanism": "kary-response",
    }
    survey = survey_in(survey_named("frequency"), terms, "agnostic")
    return Task(
        task_id=task_id,
        name="Farbe",
        notice=Notice("Stadt München", "umfrage@example.org", "Shares are published."),
        question=Question("Which colour?", survey),
        choices=(0.5, 1.0, 2.0),
        minimum=minimum,
        promise=promise,
        allowance=tuple(10.0 * epsilon for epsilon in promise),
        delta=1e-6,
        absent=3,
        suite=Suite.X25519,
        analyst_key=public_key_of(Suite.X25519, ANALYST_PRIVATE),
        analyst_signing_key=verify_key_of(ANALYST),
        shuffler_signing_key=verify_key_of(shuffler_key),
        enroller_signing_key=verify_key_of(ENROLLER),
        succeeds=succeeds,
    )


def alike_task() -> Task:
    """Returns a task of two questions that have one text, and no option in common."""
    text, targets = "How do you get to work?", (1.0, 2.0)
    questions = (
        AskedQuestion(text, ("bike", "bus")),
        AskedQuestion(text, ("tram", "car")),
    )
    survey, colors = CountsSurvey(questions), color_task(task_id=bytes(range(80, 96)))
    rule = survey.choosing(Offer(targets, 1e-6, colors.absent)).make_rule()
    return replace(
        colors,
        question=Question("Two questions", survey),
        choices=targets,
        minimum=(100, 100),
        promise=targets,
        allowance=tuple(10.0 * target for target in targets),
        plan_rule=rule,
    )


def items_plan(targets: tuple[float, ...]) -> Identity:
    """Returns a plan for two of four items; no rule was asked about it."""
    return Items(4, 2, targets, (0.25, 0.5, 0.75), 3.5, 9).identity
