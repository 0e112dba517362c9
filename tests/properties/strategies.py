"""What hosts fire and what hooks answer: all of it."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import strategies as st

from interpose import EventSpec, Hooks, Outcome, Reply, allow, ask, deny
from interpose.events import TABLE
from interpose.model import Injection
from interpose.replies import STRATEGIES

Body = Callable[[Any], Any]

_ALL = list(TABLE.values())
_DECIDED = [row for row in _ALL if "allow" in row.can]
rows = st.sampled_from(_DECIDED) | st.sampled_from(_ALL)
"""Every row, and more often those at which most can be said."""
rows_that_can_deny = st.sampled_from(_DECIDED) | st.sampled_from([row for row in _ALL if "deny" in row.can])

ALPHABET = "abBE01 _-./:*?!()[]{}|,$\\\"'\n\r\t\x00\x07\x1b\x7f\x9bé你\U0001f600\u202e\u2028\ud800"
"""A few of every kind: letters, what means something to somebody, controls, and what cannot be encoded."""

texts = st.text(ALPHABET, max_size=12)
words = st.text(alphabet="abc", min_size=1, max_size=3)
"""Text in which nothing has to be cleaned away."""

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
json_objects = st.dictionaries(texts, json_values, max_size=4)

things = st.one_of(
    json_values,
    st.binary(max_size=8),
    st.complex_numbers(allow_nan=False),
    st.sets(st.integers(), max_size=3),
    st.tuples(scalars, scalars),
    st.sampled_from(
        [object(), object, ..., NotImplemented, len, Reply, ValueError("x"), SimpleNamespace(decision="allow")]
    ),
    st.builds(iter, st.lists(scalars, max_size=2)),
)
"""Any object at all."""


def values_for(kind: str) -> st.SearchStrategy[Any]:
    """What may stand in a field of this kind."""
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "text": texts,
        "text|null": st.none() | texts,
        "object": json_objects,
        "list": st.lists(json_values, max_size=3),
        "flag": st.booleans(),
        "number": st.integers(),
    }
    return kinds.get(kind, json_values)


@st.composite
def changes(draw: st.DrawFn, row: EventSpec) -> dict[str, Any]:
    """Changes that are well-formed at a row: of fields it grants, of others, of nothing it knows."""
    wished: dict[str, Any] = {}
    for name in sorted(row.modifies):
        if draw(st.booleans()):
            wished[name] = draw(values_for(row.fields[name].kind))
    for name in draw(st.lists(st.sampled_from(["session_id", "nonsense", "tool_name", "prompt"]), max_size=2)):
        if name not in row.modifies:
            wished[name] = draw(texts)
    return wished


injections = st.builds(Injection, words, st.sampled_from(STRATEGIES))


@st.composite
def replies(draw: st.DrawFn, row: EventSpec) -> Reply:
    """Any well-formed reply."""
    decision = draw(st.sampled_from(["deny", "ask", "allow", None, None]))
    return Reply(
        decision=cast(Any, decision),
        grants=decision == "allow" and draw(st.booleans()),
        reason=draw(st.just("") | words),
        changes=draw(changes(row)),
        context=tuple(draw(st.lists(words, max_size=2))),
        messages=tuple(draw(st.lists(words, max_size=2))),
        inject=tuple(draw(st.lists(injections, max_size=2))),
        suppress=draw(st.booleans()),
        continue_=draw(st.sampled_from([None, None, None, True, False])),
        stop_reason=draw(st.just("") | words),
        interrupt=draw(st.booleans()),
        keep_going=draw(st.booleans()),
        extra=draw(st.dictionaries(words, scalars, max_size=2)),
    )


def raises(event: Any) -> Any:
    """The body of a hook that breaks."""
    raise ValueError("broken")


@st.composite
def hooks_that_say(draw: st.DrawFn, row: EventSpec) -> dict[str, Any]:
    """The arguments of a registration: a body that answers, breaks or answers rubbish, and its policy."""
    reply = draw(st.sampled_from([allow("a"), ask("b"), deny("c"), Reply(decision="allow")]) | replies(row))
    body: Body = draw(
        st.sampled_from([lambda event: reply, lambda event: reply, lambda event: None, raises, lambda event: 5])
    )
    return {"handler": body, "on_error": draw(st.sampled_from([None, "log", "skip", "abort"]))}


def fire(
    row: EventSpec, population: list[dict[str, Any]], fields: Mapping[str, Any] | None = None, **settings: Any
) -> Outcome:
    """Fire an event through hooks, in the order given."""
    hooks = Hooks(max_hooks_per_point=0, **settings)
    for number, given in enumerate(population):
        options = {"name": f"hook {number}", "inline": not given.get("parallel"), **given}
        hooks.register(row.name, options.pop("handler"), **options)
    return hooks.fire_sync(row.name, **(fields or {}))


STRICTNESS = {"none": 0, "allow": 1, "ask": 2, "deny": 3}


def strictness(outcome: Outcome) -> int:
    """How strict a decision is."""
    return STRICTNESS[outcome.decision]
