"""Shuffler service: it sees who takes part and at which level, but no plain report.

app.py                HTTP application
upload_bodies.py      upload bodies of limited size
task_lifecycle.py     state transitions of one task: close, hand-over, next epoch
collector.py          uploads to the open step, and automatic closes
upload_intake.py      group commit of checked uploads
handover.py           closed batches to the analyst, until they are acknowledged
store.py              protocol of the stores in SQLite and PostgreSQL
"""
