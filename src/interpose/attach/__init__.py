"""Attach Interpose to the coding agents that people run: write hooks into their settings, and take them out again."""
