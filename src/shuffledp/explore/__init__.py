"""A local page to play with: people, levels and mechanisms, and what is certified of them.

`scene` is what is shown, as the address of the page says it; `answers` is what the
accountant says of it; `exports` says the same as a program and as a command; `workers`
computes apart from the server; `app` and `run` serve.
"""
