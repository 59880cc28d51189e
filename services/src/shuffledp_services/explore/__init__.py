"""A local page to explore users, levels, mechanisms and their certified guarantees.

`explore_query` reads the parameters from the page's address; `answers` computes the
accountant's results for them; `exports` writes them as a program and as a command;
`answer_processes` computes outside the server's process; `explore_app` and
`explore_server` serve the page.
"""
