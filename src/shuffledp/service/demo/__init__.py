"""Whole collections on one machine, to look at: services, devices, auditors, saboteurs."""
