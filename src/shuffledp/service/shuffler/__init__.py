"""The service that sees who takes part, and at which level, but never what they say.

app.py                HTTP
body.py               bodies of limited size
steps.py              one task: where it stands, the close, the next epoch
collector.py          its uploads, and steps that end by themselves
intake.py             uploads checked, and committed in groups
handover.py           closed batches to the analyst, until she signs for them
store.py              what is kept; in SQLite or PostgreSQL
"""
