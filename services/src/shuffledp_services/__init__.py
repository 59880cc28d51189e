"""Encode, shuffle, analyze as three parties: devices, a shuffler and an analyst.

wire/         frozen messages between the parties, sealing, tokens
collection/   state machines of each party, without sockets, clocks or entropy of their own
monitoring/   events, metrics, readiness and heartbeat of a running service
storage/      databases and key files on disk
http/         HTTP for services and clients: limits, deadlines, problem documents
device/       devices of participants: randomize and seal answers, check receipts
shuffler/     service that sees the senders, but never an opened message
analyst/      service that opens messages, but never sees a sender
participant/  page on which a participant answers with a browser
operator/     task setup, signatures, key rotation, enrolment, and running services
audit/        the auditor: canaries, evidence of an epoch, verification of results
demo/         demonstrations on one machine

Imports among these folders point one way.
"""
