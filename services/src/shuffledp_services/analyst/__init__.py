"""The analyst's service, which sees messages, but never their senders.

analyst_host.py      hosted tasks and the analyst's keys
intake.py            batches from the network to the disk
store.py             interface of the store; sqlite_store.py implements it
batch_processing.py  opens and counts a batch, publishes or withholds its result
worker.py            thread that processes batches
results.py           published results; ledger.py: privacy spent by every choice
app.py               HTTP application
pages.py             dashboard; figures.py: its layout, progress.py: the shuffler's status
"""
