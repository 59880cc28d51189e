"""A task that takes another one's place, as keys were stolen, lost, or are old.

It names the digest of the former one, and is the same but for keys. So everything that was
spent stays spent, and whoever trusts the new one finds all former ones: each names the one
before. What was signed or sealed under a former one names its digest, and is refused.
"""

from typing import Any

from shuffledp.service.wire.parties import Role
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task


def check_succession(task: Task, former: Task) -> tuple[Role, ...]:
    """Returns whose keys a task replaces.

    Args:
        task: Which takes the place of `former`.
        former: The task before.

    Raises:
        Refusal: If it succeeds another one, replaces no key or half of a party's, gives
            one party another one's former key, or differs in anything else: that would
            be something else than what people agreed to.
    """
    if task.succeeds != former.digest:
        raise Refusal(
            Reason.UNKNOWN_TASK,
            f"Expected a task that succeeds {former.fingerprint}, got one that succeeds "
            f"{'none' if task.succeeds is None else task.succeeds.hex()}.",
        )
    new, old = task.keys, former.keys
    if _terms(task) != _terms(former):
        raise Refusal(
            Reason.MALFORMED,
            "Expected the former task with other keys, and nothing else changed.",
        )
    replaced = {name for name in new if new[name] != old[name]}
    if not replaced:
        raise Refusal(Reason.MALFORMED, "Expected at least one party's new keys.")
    hers = {"analyst_key", "analyst_signing_key"}
    if len(replaced & hers) == 1:
        raise Refusal(
            Reason.MALFORMED, "Expected both of the analyst's keys to be new."
        )
    if any(new[name] in old.values() for name in replaced):
        raise Refusal(Reason.MALFORMED, "Expected new keys that were nobody's before.")
    return tuple(
        role for role in Role if role.verify_key(task) != role.verify_key(former)
    )


def names_of(roles: tuple[Role, ...]) -> str:
    """Returns parties in words.

    >>> names_of((Role.ANALYST,)), names_of(tuple(Role))
    ('the analyst', 'the analyst, the shuffler and the enroller')
    """
    *most, last = [f"the {role.value}" for role in roles]
    return f"{', '.join(most)} and {last}" if most else last


def _terms(task: Task) -> dict[str, Any]:
    value = task.to_dict()
    return {name: value[name] for name in value.keys() - {*task.keys, "succeeds"}}
