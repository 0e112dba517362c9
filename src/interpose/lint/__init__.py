"""What ``check`` and ``doctor`` know: everything doubtful about a configuration, apart from reading it.

``files`` reads configuration files and applies ``rules`` to their hooks. ``executables`` looks at the files and modules
that hooks name. ``probe`` makes a harmless event for a hook, and ``diagnosis`` judges how the hook handled it.
``machine`` checks what hooks need from the machine. Nothing here prints, and nothing here fires an event: the caller
passes in the results.
"""
