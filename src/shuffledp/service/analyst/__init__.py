"""The service that sees what, but never who.

hosted.py        a task and the keys that go with it
intake.py        a batch, from the network to the disk
store.py         what is kept; sqlite_store.py keeps it
work.py          opens a batch, counts, judges, publishes or withholds
worker.py        does that in a thread of its own
results.py       what is published; ledger.py: what every choice has spent
app.py           HTTP
pages.py         the dashboard: figures.py its pictures, progress.py what the shuffler says
"""
