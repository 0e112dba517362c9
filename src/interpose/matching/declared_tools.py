"""Tools that a host calls by names of its own, and the names that rules know them by.

A declaration says that ``shell`` is ``Bash`` and that its field ``cmd`` is ``command``. Hooks, rules and the record see
the declared names; the host gets its own names back, with every value that no hook changed as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from ..model import Hook
from ..records import Record, made_by, replace
from ..runtime.copies import own_copy

__all__ = ["KINDS", "DeclaredCall", "DeclaredTool", "DeclaredTools", "contains", "overlap", "same_value"]

KINDS = ("read", "edit", "run")
"""What a tool does, for the permission modes; from the least to the most."""

_MOST_NAMES = 4096


class TwoValuesForOneField(ValueError):
    """An input has a value under the host's name of a field and another under the declared name."""


class DeclaredTool(Record):
    """A tool of the host: the name that it has there, or a pattern, and what rules know it by."""

    pattern: str
    name: str = ""  # the declared name; in a configuration, empty if it keeps the host's
    fields: Mapping[str, str] = made_by(factory=dict)  # the host's name of a field, and the declared one
    kind: str = ""  # what it does; empty if the name tells
    layer: str = "code"
    above: frozenset[str] = frozenset()  # the layers above its own, whose hooks it does not change
    source: str = ""

    def keeps_host_names(self, hook: Hook) -> bool:
        """Say whether a hook gets the host's own names: its matcher is about them, or it is of a higher layer."""
        if hook.layer in self.above:
            return hook.matches is None or hook.matches(self.pattern)
        return hook.matches is not None and not hook.matches(self.name)

    def to_declared(self, given: Any) -> Any:
        """Return an input under the declared names, or raise TwoValuesForOneField."""
        if not isinstance(given, Mapping):
            return given
        shown = {self.fields.get(key, key) if isinstance(key, str) else key: value for key, value in given.items()}
        if len(shown) < len(given):
            both = next(f"{one} and {other}" for one, other in self.fields.items() if one in given and other in given)
            raise TwoValuesForOneField(f"the input has {both}, which are two names of one field")
        if _is_words(words := shown.get("command")):
            from shlex import join

            shown["command"] = join(words)
        return shown

    def with_host_names(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return recorded fields, which have the declared names, under the host's names."""
        host = {declared: own for own, declared in self.fields.items()}
        found = {**fields, "tool_name": fields["host_tool_name"]}
        del found["host_tool_name"]
        if isinstance(given := fields.get("tool_input"), Mapping):
            found["tool_input"] = {host.get(key, key): value for key, value in given.items()}
        return found


class DeclaredTools:
    """The declared tools of an engine, in groups; what an earlier group says of a name wins over the later ones."""

    def __init__(self, groups: Iterable[Sequence[DeclaredTool]] = ()) -> None:
        self._groups = [tuple(group) for group in groups if group]
        self._found: dict[str, DeclaredTool | None] = {}

    def __iter__(self) -> Iterator[DeclaredTool]:
        return (tool for group in self._groups for tool in group)

    def find(self, name: str) -> DeclaredTool | None:
        """Return what is declared about a tool: of what matches its name, the most specific of the first group.

        It has the name of the tool for its pattern.
        """
        try:
            return self._found[name]
        except KeyError:
            pass
        groups = self._groups if name else ()  # a host may give no name
        declared = next(filter(None, (_most_specific(group, name) for group in groups)), None)
        found = None if declared is None else replace(declared, pattern=name, name=declared.name or name)
        if len(self._found) >= _MOST_NAMES:
            self._found.clear()
        self._found[name] = found
        return found

    def call(self, name: str, input: Any) -> dict[str, Any]:
        """Return a call as permission rules see it: under the declared names, with the host's beside them."""
        fields = {"tool_name": name, "tool_input": input}
        tool = self.find(name)
        if tool is None:
            return fields
        call = DeclaredCall(tool, fields)
        return {**call.for_rules(call.fields), "problem": call.problem}

    def undeclared(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a recorded event as the host gave them, if they have declared names."""
        name = fields.get("host_tool_name")
        tool = self.find(name) if isinstance(name, str) else None
        if tool is None or tool.name != fields.get("tool_name"):
            return dict(fields)
        return tool.with_host_names(fields)


class DeclaredCall:
    """One call of a declared tool: its fields under the declared names, and the way back to the host's."""

    __slots__ = ("_given", "_host_name", "_shown", "_tool", "fields", "problem")

    def __init__(self, tool: DeclaredTool, fields: Mapping[str, Any]) -> None:
        self._tool = tool
        self._given = self._shown = fields.get("tool_input", {})
        self._host_name = fields["tool_name"]
        self.problem = ""
        """Why the input cannot be shown under the declared names."""
        try:
            self._shown = tool.to_declared(self._given)
        except TwoValuesForOneField as error:
            self.problem = str(error)
        except Exception as error:  # an input whose own methods raise
            self.problem = f"the input cannot be read: {type(error).__name__}"
        names = {"tool_name": tool.name, "host_tool_name": self._host_name}
        self.fields: dict[str, Any] = {**fields, **names}
        if "tool_input" in fields:
            self.fields["tool_input"] = self._shown

    def for_rules(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return fields in which rules find both names, and the host's own input too if it must not be hidden.

        What a lower layer declares must hide nothing from rules of a higher one.
        """
        return {**fields, "host_tool_input": self._to_host(fields.get("tool_input"))} if self._tool.above else fields

    def accept(self, changes: dict[str, Any]) -> None:
        """Put the declared names into the input that a hook asks for; it may have used the host's."""
        if "tool_input" in changes:
            changes["tool_input"] = self._tool.to_declared(changes["tool_input"])

    def restore(self, fields: dict[str, Any], copy: Callable[[Any], Any] = own_copy) -> dict[str, Any]:
        """Put the host's names into the fields of an event, in place."""
        fields["tool_name"] = self._host_name
        fields.pop("host_tool_name", None)
        if "tool_input" in fields:
            fields["tool_input"] = copy(self._to_host(fields["tool_input"]))
        return fields

    def restore_own(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Put the host's names and its own values into the fields of an event, in place."""
        return self.restore(fields, lambda value: value)

    def _to_host(self, final: Any) -> Any:
        given, shown = self._given, self._shown
        if final is shown or same_value(final, shown):
            return given
        if self.problem or not isinstance(final, Mapping) or not isinstance(given, Mapping):
            return final
        # A field that the host gave under the declared name keeps it.
        names = {new: own for own, new in self._tool.fields.items() if own in given or new not in given}
        host = {names.get(key, key): value for key, value in final.items()}
        key, line = names.get("command", "command"), final.get("command")
        return {**host, key: _words_of(line)} if _is_words(given.get(key)) and isinstance(line, str) else host


def _is_words(value: Any) -> TypeGuard[list[str]]:
    """Say whether a command is given as a program and its arguments."""
    return type(value) is list and bool(value) and all(type(word) is str for word in value)


def _words_of(line: str) -> list[str]:
    """Return a command line as a program and its arguments: the shell, if the line is more than quoted words."""
    from shlex import join, split

    try:
        words = split(line)
    except ValueError:  # a quote that is not closed
        words = []
    return words if words and join(words) == line else ["sh", "-c", line]


def same_value(one: Any, other: Any) -> bool:
    """Say whether two inputs are equal and of the same types; 1, 1.0 and True are not the same."""
    try:
        return _same(one, other)
    except RecursionError:  # too deep to compare
        return False


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if type(one) is list:
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) in (str, int, float, bytes) and one == other


# Patterns: names in which * stands for any text.


def _most_specific(tools: Sequence[DeclaredTool], name: str) -> DeclaredTool | None:
    fitting = [tool for tool in tools if contains(tool.pattern, name)]
    return next((one for one in fitting if all(contains(other.pattern, one.pattern) for other in fitting)), None)


def contains(wide: str, narrow: str) -> bool:
    """Say whether a pattern matches every name that another pattern, or a name, stands for."""
    first, *rest = wide.split("*")
    if not rest:
        return wide == narrow
    *middle, last = rest
    if len(narrow) < len(first) + len(last) or not narrow.startswith(first) or not narrow.endswith(last):
        return False
    at, end = len(first), len(narrow) - len(last)
    for part in middle:
        at = narrow.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def overlap(one: str, other: str) -> bool:
    """Say whether there is a name that both patterns match."""
    if "*" not in one or "*" not in other:
        return contains(one, other) or contains(other, one)
    starts = one.partition("*")[0], other.partition("*")[0]
    ends = one.rpartition("*")[2], other.rpartition("*")[2]
    fits = starts[0].startswith(starts[1]) or starts[1].startswith(starts[0])
    return fits and (ends[0].endswith(ends[1]) or ends[1].endswith(ends[0]))
