"""Many machines: the same rules, one record, and questions that are answered anywhere, over NATS.

Decisions stay on the machine. A node process (``interpose fleet node``) takes over signed rules, forwards the record
and carries questions and answers; firings read what it has left on disk and never wait for it.
"""
