"""Monitoring of a running service: events, metrics, readiness, heartbeat."""
