"""What the engine needs of Python itself, apart from hooks and events.

Coroutines without an event loop, tasks that begin at once, forks, signals, and code that broke. What depends on the
inner workings of CPython is here and nowhere else.
"""
