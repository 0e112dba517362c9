"""The pages: what runs, what was stopped and why, and what waits for a person; in a browser, on this machine.

``access`` decides who may see and change what; ``views`` collects what a page shows, ``app`` has the addresses, and
``live`` tells open pages what is new. They read the record, and answer questions as ``interpose approve`` does.
"""
