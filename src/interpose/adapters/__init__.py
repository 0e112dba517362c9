"""Adapters: one hook file governs an agent that is built with a framework. One module per framework.

An adapter uses the public names of Interpose and of its framework. A part of the framework that an adapter needs and
does not find raises an error, and an error of the adapter itself denies.
"""
