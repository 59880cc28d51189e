"""Encode, shuffle, analyze as three parties: devices, a shuffler and an analyst.

wire/         frozen messages between the parties, sealing, tokens
collection/   state machines of each party, without sockets, clocks or entropy of their own
monitoring/   events, metrics, readiness and heartbeat of a running service
storage/      databases and key files on disk
http/         HTTP for services and clients: limits, deadlines, problem documents
device/       devices of participants: randomize and seal answers, check receipts
shuffler/     the service that sees who, but never what
analyst/      the service that sees what, but never who
participant/  the page on which a person takes part
operator/     task setup, signatures, key rotation, enrolment, and running services
audit/        the auditor: canaries, evidence of an epoch, verification of results
demo/         whole collections on one machine

Imports among these folders point one way.
"""
