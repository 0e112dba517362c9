"""The originals' names over the same engine: ``armament``, ``massgen`` and ``goat``.

Each module builds a ``Hooks``, registers, fires and translates. Order, matching, deadlines, failures and what a reply
may do are the engine's; nothing here decides a second time.
"""
