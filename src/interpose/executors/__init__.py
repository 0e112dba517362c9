"""Where the steps of a run are executed: on an event loop, in threads, or in the caller's own thread.

An executor starts chains. A chain is one coroutine that goes through the steps that belong in one place; it needs no
event loop of its own. An executor watches the deadline of the step that a chain is at, ends it, and goes on without a
chain that does not end. It knows nothing of decisions.
"""
