"""The resident engine: ``interpose serve`` answers the events of one user, so that a hook need not load the engine.

One request is what one ``interpose fire`` call is: arguments, directory, environment, standard input. One answer is
its exit status, standard output and standard error. The parts, from the outside in:

- ``client.py`` and ``client.c`` are the programs that a host starts instead of ``interpose fire``.
- ``listener`` accepts requests on a socket, ``http`` on a port; ``server`` has both, and is about their life.
- ``dispatcher`` gives each request to an engine process of its project, and starts and ends these processes.
- ``engine_process`` is such a process. It takes over the environment and the directory of one caller at a time, so
  everything in it reads what it would read in a process of its own. No hook runs in the server process.
- ``kept_hooks`` keeps what such a process has loaded, as long as nothing that was read has changed.
"""
