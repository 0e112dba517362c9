from interpose import modify


def list_long(event):
    return modify(tool_input={**event.tool_input, "command": event.tool_input["command"] + " -l"})
