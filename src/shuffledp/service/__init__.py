"""Encode, shuffle, analyze as three parties: devices, a shuffler and an analyst.

wire/         what they send to each other: frozen messages, sealing, tokens
collection/   what each party does next, without sockets, clocks or entropy of its own
shuffler/     the service that sees who, but never what
analyst/      the service that sees what, but never who
participant/  the page on which a person takes part
audit/        the auditor: canaries, and what she sees of an epoch
demo/         whole collections on one machine, to look at
device.py     simulated people, over HTTP
"""
