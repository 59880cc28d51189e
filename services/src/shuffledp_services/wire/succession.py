"""Succession of a task by one with other keys, after keys were stolen, lost or expired.

The new task names the digest of the former one, and differs from it in keys only. So the
spent budget is kept, and the chain of digests leads from the new task to all former ones.
Messages that were signed or sealed under a former task name its digest, and are refused.
"""

from typing import Any

from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.task import Task


def check_succession(task: Task, former: Task) -> tuple[Role, ...]:
    """Checks that a task succeeds another, and returns the parties with new keys.

    Args:
        task: The new task.
        former: The task that it succeeds.

    Raises:
        Refusal: If the task succeeds another one, replaces no key or only some keys of a
            party, reuses a former key of another party, or differs in anything else.
    """
    if task.succeeds != former.digest:
        raise Refusal(
            Reason.UNKNOWN_TASK,
            f"Expected a task that succeeds {former.fingerprint}, got one that succeeds "
            f"{'none' if task.succeeds is None else task.succeeds.hex()}.",
        )
    new, old = task.keys, former.keys
    # Users agreed to the former terms.
    if _terms(task) != _terms(former):
        raise Refusal(
            Reason.MALFORMED,
            "Expected the former task with other keys, and nothing else changed.",
        )
    replaced = {name for name in new if new[name] != old[name]}
    if not replaced:
        raise Refusal(Reason.MALFORMED, "Expected at least one party's new keys.")
    analyst_keys = {"analyst_key", "analyst_signing_key"}
    if len(replaced & analyst_keys) == 1:
        raise Refusal(
            Reason.MALFORMED, "Expected both of the analyst's keys to be new."
        )
    if any(new[name] in old.values() for name in replaced):
        raise Refusal(Reason.MALFORMED, "Expected new keys that were nobody's before.")
    return tuple(
        role for role in Role if role.verify_key(task) != role.verify_key(former)
    )


def names_of(roles: tuple[Role, ...]) -> str:
    """Returns an enumeration of parties as text.

    >>> names_of((Role.ANALYST,)), names_of(tuple(Role))
    ('the analyst', 'the analyst, the shuffler and the enroller')
    """
    *first_names, last = [f"the {role.value}" for role in roles]
    return f"{', '.join(first_names)} and {last}" if first_names else last


def _terms(task: Task) -> dict[str, Any]:
    value = task.to_dict()
    return {name: value[name] for name in value.keys() - {*task.keys, "succeeds"}}
