"""Parties whose keys were replaced, as tests of rotation need them."""

from dataclasses import replace

import analyst_parties
import shuffler_parties
from service_parties import Enroller

from shuffledp_services.analyst.analyst_host import AnalystHost
from shuffledp_services.shuffler.shuffler_host import ShufflerHost
from shuffledp_services.storage.key_files import AnalystSecrets, ShufflerSecrets
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.sealing import Suite, new_private_key, public_key_of
from shuffledp_services.wire.signing import new_signing_key, verify_key_of
from shuffledp_services.wire.task import Task


def successor(task: Task, *roles: Role) -> Task:
    """A task with new keys, whose secret halves nobody has."""
    signing = {
        role: verify_key_of(new_signing_key())
        if role in roles
        else role.verify_key(task)
        for role in Role
    }
    opened = public_key_of(task.suite, new_private_key(task.suite))
    return replace(
        task,
        analyst_key=opened if Role.ANALYST in roles else task.analyst_key,
        analyst_signing_key=signing[Role.ANALYST],
        shuffler_signing_key=signing[Role.SHUFFLER],
        enroller_signing_key=signing[Role.ENROLLER],
        succeeds=task.digest,
    )


def of_shuffler(
    who: shuffler_parties.Parties, *roles: Role
) -> shuffler_parties.Parties:
    """Everybody around a shuffler, these with new keys."""
    secrets, analyst, enroller = (
        who.hosted.secrets,
        who.analyst_key,
        who.enroller.signing_key,
    )
    if Role.SHUFFLER in roles:
        secrets = ShufflerSecrets.new()
    if Role.ANALYST in roles:
        analyst = new_signing_key()
    if Role.ENROLLER in roles:
        enroller = new_signing_key()
    opened = new_private_key(Suite.X25519)
    key = who.task.analyst_key
    task = replace(
        who.task,
        analyst_key=public_key_of(Suite.X25519, opened)
        if Role.ANALYST in roles
        else key,
        analyst_signing_key=verify_key_of(analyst),
        shuffler_signing_key=secrets.verify_key,
        enroller_signing_key=verify_key_of(enroller),
        succeeds=who.task.digest,
    )
    enrolling = Enroller(task, enroller)
    last = shuffler_parties.no_rosters
    hosted = ShufflerHost(task, secrets, enrolling.roster, last, who.task)
    return shuffler_parties.Parties(hosted, analyst, enrolling)


def of_analyst(who: analyst_parties.Parties, *roles: Role) -> analyst_parties.Parties:
    """Everybody around an analyst, these with new keys."""
    secrets, shuffler, enroller = (
        who.hosted.secrets,
        who.shuffler_key,
        who.enroller.signing_key,
    )
    if Role.ANALYST in roles:
        secrets = AnalystSecrets.new(Suite.X25519)
    if Role.SHUFFLER in roles:
        shuffler = new_signing_key()
    if Role.ENROLLER in roles:
        enroller = new_signing_key()
    analyst_key, analyst_signing_key = secrets.public_keys()
    task = replace(
        who.task,
        analyst_key=analyst_key,
        analyst_signing_key=analyst_signing_key,
        shuffler_signing_key=verify_key_of(shuffler),
        enroller_signing_key=verify_key_of(enroller),
        succeeds=who.task.digest,
    )
    hosted = AnalystHost(task, secrets, who.task)
    return analyst_parties.Parties(hosted, shuffler, Enroller(task, enroller))
