"""Hostile plans, and what each party does with them.

    PYTHONPATH=tests:services/tests python services/tests/service/hostile_plans.py

prints a table. The part of the page is in device/test/plans.test.mjs, with the same plans.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from service_parties import Parties, allowed_plan, parties, publish

from shuffledp.identity import Identity
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.device.device_state import DeviceState
from shuffledp_services.device.simulated_devices import TaskSnapshot
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.signed_plan import Acknowledgement, PublishedPlan
from shuffledp_services.wire.signing import new_signing_key, signed

Document = dict[str, Any]


@cache
def made() -> Parties:
    """A task in which people choose targets."""
    return parties("items")


@cache
def other_task() -> Parties:
    """Another task of the same question."""
    return parties("items", name="Another one")


def changed(**terms: Any) -> Identity:
    """The analyst's plan with other parameters."""
    record = allowed_plan(made().task).record["parameters"] | terms
    record["num_items"] = record.pop("items")
    return Items(**record).identity


def _terms() -> dict[str, Any]:
    found: dict[str, Any] = allowed_plan(made().task).record["parameters"]
    return found


def _one_rate() -> Identity:
    rule: Any = made().task.plan_rule
    table, terms = rule.table, _terms()
    honest = made().task.minimum[0] - made().task.absent
    row = table.rates[table.row_below(honest * terms["blanket"])]
    # The first rate that is not 1 already.
    place = next(i for i, rate in enumerate(row) if rate < 1.0)
    rates = list(row)
    rates[place] *= 1.0 + 1e-6
    return changed(rates=tuple(rates))


def _little_noise() -> Identity:
    rule: Any = made().task.plan_rule
    honest = made().task.minimum[0] - made().task.absent
    return changed(
        rates=rule.table.rates[0], blanket=rule.table.noise[0] / honest * (1 - 1e-6)
    )


def _by(protocol: Callable[[], Identity]) -> Document:
    return publish(made().task, made().analyst.signing_key, protocol()).to_dict()


def _unsigned() -> Document:
    plan = _by(lambda: allowed_plan(made().task))
    return {name: value for name, value in plan.items() if name != "signature"}


def _changed_after() -> Document:
    return _by(lambda: allowed_plan(made().task)) | {"counts": [1, 1, 1]}


HOSTILE: dict[str, Callable[[], Document]] = {
    "everything sent, no noise": lambda: _by(
        lambda: changed(rates=(1.0, 1.0, 1.0), blanket=0.0)
    ),
    "one rate 1e-6 larger": lambda: _by(_one_rate),
    "noise 1e-6 smaller": lambda: _by(_little_noise),
    "a report one message smaller": lambda: _by(
        lambda: changed(report_size=_smallest_size() - 1)
    ),
    "a minimum below the task's": lambda: publish(
        made().task, made().analyst.signing_key, minimum=made().task.minimum[0] - 1
    ).to_dict(),
    "unsigned": _unsigned,
    "changed after it was signed": _changed_after,
    "signed by the shuffler": lambda: publish(
        made().task, made().shuffler.signing_key
    ).to_dict(),
    "signed by a stranger": lambda: publish(made().task, new_signing_key()).to_dict(),
    "of another epoch": lambda: publish(
        made().task, made().analyst.signing_key, epoch=2
    ).to_dict(),
    "of another task": lambda: publish(
        other_task().task, made().analyst.signing_key
    ).to_dict(),
    "signed as an acknowledgement": lambda: signed(
        "acknowledgement", _unsigned(), made().analyst.signing_key
    ),
    "the bare protocol": lambda: allowed_plan(made().task).record,
}


def _smallest_size() -> int:
    """The smallest report that the rule allows with the analyst's rates and noise."""
    rule: Any = made().task.plan_rule
    size, blanket = _terms()["report_size"], _terms()["blanket"]
    honest = made().task.minimum[0] - made().task.absent
    while rule.table.fits(blanket, size - 1 - _terms()["set_size"], honest):
        size -= 1
    return int(size)


def served(plan: Document) -> Document:
    """What a shuffler, or whoever is in its place, shows to a device."""
    return {
        "task": made().task.to_dict(),
        "epoch": 1,
        "stage": "answer",
        "phase": "open",
        "enrolment": made().enroller.enrolment(1).to_dict(),
        "plan": plan,
    }


def closed() -> ShufflerState:
    """A shuffler that handed over choices, and waits for the plan."""
    begun = ShufflerState.begin(made().task).enroll(made().enroller.enrolment(1))
    return begun.close((300,), bytes(16))


def device_follows(plan: Document) -> str | None:
    """Why a device does not; None if it does."""
    try:
        TaskSnapshot.read(served(plan), made().task.digest)
    except Refusal as refusal:
        return refusal.reason.value
    return None


@dataclass(frozen=True)
class _AnyPlan:
    """A plan as it comes, to be signed as part of an acknowledgement."""

    value: Document

    def to_dict(self) -> Document:
        return self.value


def shuffler_follows(plan: Document) -> str | None:
    """Why a shuffler does not; None if it does."""
    task, any_plan = made().task, _AnyPlan(plan)
    said = Acknowledgement(task.digest, bytes(16), any_plan)  # type: ignore[arg-type]
    document = said.signed(made().analyst.signing_key)
    try:
        after = closed().deliver(Acknowledgement.read(document, task, 1))
    except Refusal as refusal:
        return refusal.reason.value
    assert (after.stage, after.phase) == (EpochStage.ANSWER, ShufflerPhase.OPEN)
    return None


def second_plan(path: Path) -> tuple[str | None, str | None]:
    """Why a device, and a shuffler, does not follow two plans of one epoch."""
    task, key = made().task, made().analyst.signing_key
    rates = tuple(0.5 * rate for rate in _terms()["rates"])
    plans = [publish(task, key), publish(task, key, changed(rates=rates))]
    steps = [
        TaskSnapshot.read(served(plan.to_dict()), task.digest).step for plan in plans
    ]
    token, answer = bytes(32), bytes(32)
    with DeviceState(path) as device:
        device.remember(steps[0], [token], [answer])
    state = closed().deliver(Acknowledgement(task.digest, bytes(16), plans[0]))
    found: list[str | None] = []

    def remember() -> None:
        # Another run of the device.
        with DeviceState(path) as device:
            device.remember(steps[1], [token], [answer], allow_changes=True)

    for follow in (
        remember,
        lambda: state.deliver(Acknowledgement(task.digest, bytes(16), plans[1])),
    ):
        try:
            follow()
            found.append(None)
        except Refusal as refusal:
            found.append(refusal.reason.value)
    return found[0], found[1]


def honest() -> PublishedPlan:
    """What the analyst publishes if she keeps the rule."""
    return publish(made().task, made().analyst.signing_key)


def main() -> None:
    rows: list[tuple[str, ...]] = [("plan", "device", "shuffler")]
    for name, make in {"honest": honest().to_dict, **HOSTILE}.items():
        plan = make()
        why = device_follows(plan), shuffler_follows(plan)
        rows.append((name, *(f"refused: {one}" if one else "followed" for one in why)))
    with TemporaryDirectory() as folder:
        device, shuffler = second_plan(Path(folder) / "device.db")
    rows.append(("a second one", f"refused: {device}", f"refused: {shuffler}"))
    for row in rows:
        print(f"{row[0]:32}{row[1]:28}{row[2]}")


if __name__ == "__main__":
    main()
