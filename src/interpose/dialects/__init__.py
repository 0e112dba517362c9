"""Wire formats: how an event is written and a reply is read. A dialect decides nothing."""
