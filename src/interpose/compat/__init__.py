"""The names of three other hook systems over this engine: ``armament``, ``massgen`` and ``goat``.

Each module builds a ``Hooks``, registers, fires and translates. The engine alone decides: order, matching, deadlines,
failures and the effect of a reply.
"""
