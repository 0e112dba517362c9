"""Which hooks exist, for whom, switched on or off."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from interpose import BadHook, Hooks, InterposeError, TooManyHooks, UnknownHook
from interpose.errors import Problem
from interpose.events import TABLE
from interpose.model import Hook
from interpose.registry import Registry, Scope


def hook(name: str | None, event: str = "PreToolUse", **options: Any) -> Hook:
    return Hook(row=TABLE[event], handler=None, name=name, label=name or "nameless", **options)


def registry(*hooks: Hook, limit: int = 0, scopes: dict[str, Scope] | None = None) -> Registry:
    made = Registry(limit, lambda: None)
    made.add(hooks, scopes)
    return made


def labels(registry: Registry, scope: str | None = None, event: str = "PreToolUse") -> list[str]:
    return [hook.label for hook in registry.snapshot.for_firing(event, scope)]


def test_hooks_are_listed_in_the_order_of_their_registration() -> None:
    assert [hook.label for hook in registry(hook("b"), hook("a")).snapshot] == ["b", "a"]


def test_adding_gives_every_hook_a_number_of_its_own() -> None:
    added = registry().add([hook("a"), hook(None), hook(None)])

    assert len({hook.sequence for hook in added}) == 3


def test_a_name_is_replaced_in_its_place() -> None:
    made = registry(hook("a", priority=1), hook("b"))

    made.add([hook("a", priority=2)])

    assert labels(made) == ["a", "b"]
    assert [hook.priority for hook in made.snapshot] == [2, 100]


@pytest.mark.parametrize(
    "other", [{"scope": "x"}, {"layer": "user"}, {"event": "PostToolUse"}, {"name": "b"}], ids=lambda other: str(*other)
)
def test_a_name_in_another_scope_layer_or_event_is_another_hook(other: dict[str, Any]) -> None:
    made = registry(hook("a"))

    made.add([hook(**{"name": "a", **other})])

    assert len(list(made.snapshot)) == 2


def test_hooks_without_a_name_never_replace_each_other() -> None:
    assert len(list(registry(hook(None), hook(None)).snapshot)) == 2


def test_one_too_many_is_refused_and_nothing_of_the_batch_is_added() -> None:
    made = registry(hook("a"), limit=2)

    with pytest.raises(TooManyHooks, match="2 hooks already"):
        made.add([hook("b"), hook("c")])

    assert labels(made) == ["a"]


@pytest.mark.parametrize(
    ("layer", "source", "where"),
    [("user", "hooks.yaml:3:5", "hooks.yaml:3:5"), ("code", "app.py:12", "app.py:12"), ("code", "hooks.Stop[3]", "")],
)
def test_one_too_many_is_named_with_its_place_if_that_is_a_line_of_a_file(layer: str, source: str, where: str) -> None:
    made = registry(hook("a", layer=layer), limit=1)

    with pytest.raises(TooManyHooks) as caught:
        made.add([hook("b", layer=layer, source=source)])

    assert caught.value.problem == Problem(
        "PreToolUse has 1 hooks already", where=where, hint="raise maxHooksPerPoint, or set it to 0 for no limit"
    )


def test_the_limit_counts_each_event_and_scope_by_itself_and_replacing_is_free() -> None:
    made = registry(hook("a"), hook("b", scope="x"), hook("c", event="PostToolUse"), limit=1)

    made.add([hook("a")])

    assert len(list(made.snapshot)) == 3


def test_removing_a_name_removes_every_hook_of_it() -> None:
    made = registry(hook("a"), hook("a", event="PostToolUse"), hook("a", scope="x"), hook("b"))

    made.remove("a")

    assert [hook.label for hook in made.snapshot] == ["b"]


def test_removing_a_handle_removes_that_hook_alone_also_after_it_was_switched() -> None:
    made = registry(hook("a"))
    [handle] = made.add([hook("a", scope="x")])
    made.switch("a", False)

    made.remove(handle)

    assert [(hook.label, hook.scope) for hook in made.snapshot] == [("a", None)]


@pytest.mark.parametrize("act", ["remove", "enable", "disable"])
def test_a_name_that_nobody_has_is_refused_with_the_nearest(act: str) -> None:
    made = registry(hook("safety-check"))

    with pytest.raises(UnknownHook, match="did you mean safety-check"):
        made.remove("safty-check") if act == "remove" else made.switch("safty-check", act == "enable")


def test_a_disabled_hook_is_not_fired_and_keeps_its_place() -> None:
    made = registry(hook("a"), hook("b"))

    made.switch("a", False)
    without = labels(made)
    made.switch("a", True)

    assert without == ["b"]
    assert labels(made) == ["a", "b"]


@pytest.mark.parametrize(
    ("layer", "may"),
    [("code", ["code", "user", "project", "local"]), ("user", ["user", "project", "local"]),
     ("project", ["project", "local"]), ("local", ["local"])],
)  # fmt: skip
def test_a_layer_touches_its_own_hooks_and_those_below(layer: str, may: list[str]) -> None:
    for owner in ("code", "user", "project", "local"):
        made = registry(hook("a", layer=owner))
        if owner in may:
            made.remove("a", layer)
            assert labels(made) == []
        else:
            with pytest.raises(UnknownHook, match="may not touch"):
                made.remove("a", layer)
            assert labels(made) == ["a"]


def test_a_layer_touches_what_it_may_and_leaves_the_rest_of_a_name() -> None:
    made = registry(hook("a", layer="user"), hook("a", layer="local"))

    made.switch("a", False, "project")

    assert [(hook.layer, hook.enabled) for hook in made.snapshot] == [("user", True), ("local", False)]


def test_a_layer_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadHook, match="no layer"):
        registry(hook("a")).remove("a", "root")


# Scopes.


def test_a_firing_for_a_scope_takes_the_shared_hooks_and_its_own() -> None:
    made = registry(hook("shared"), hook("mine", scope="me"), hook("yours", scope="you"))

    assert labels(made, "me") == ["shared", "mine"]
    assert labels(made, "nobody") == ["shared"]


def test_a_firing_without_a_scope_takes_those_of_all_scopes() -> None:
    assert labels(registry(hook("shared"), hook("mine", scope="me"), hook("yours", scope="you"))) == [
        "shared", "mine", "yours",
    ]  # fmt: skip


def test_locked_hooks_of_an_ancestor_hold_for_its_descendants() -> None:
    scopes = {"main": Scope(), "child": Scope("main"), "grandchild": Scope("child"), "other": Scope()}
    made = registry(hook("locked", scope="main", locked=True), hook("open", scope="main"), scopes=scopes)

    assert labels(made, "grandchild") == ["locked"]
    assert labels(made, "other") == []


def test_scopes_that_are_each_others_parents_do_no_harm() -> None:
    made = registry(hook("a", scope="x", locked=True), scopes={"x": Scope("y"), "y": Scope("x")})

    assert labels(made, "y") == ["a"]


def test_an_override_drops_shared_hooks_of_its_layer_and_below_except_locked_ones() -> None:
    scopes = {"me": Scope(overrides={"PreToolUse": "project"})}
    made = registry(
        hook("code", layer="code"),
        hook("user", layer="user"),
        hook("project", layer="project"),
        hook("local", layer="local"),
        hook("locked", layer="local", locked=True),
        hook("mine", scope="me", layer="project"),
        hook("after", event="PostToolUse", layer="project"),
        scopes=scopes,
    )

    assert labels(made, "me") == ["code", "user", "locked", "mine"]
    assert labels(made, "me", "PostToolUse") == ["after"]
    assert labels(made, "you") == ["code", "user", "project", "local", "locked"]


def test_removing_a_scope_removes_its_hooks_and_may_be_done_again() -> None:
    made = registry(hook("shared"), hook("mine", scope="me"), scopes={"me": Scope(), "you": Scope()})

    for _ in range(2):
        made.remove_scope("me")

        assert [hook.label for hook in made.snapshot] == ["shared"]
        assert list(made.snapshot.scopes) == ["you"]


def test_an_exchange_takes_back_what_the_old_scopes_override_and_leaves_the_rest() -> None:
    old = {"me": Scope(overrides={"PreToolUse": "project"})}
    made = registry(hook("shared", layer="project"), scopes={**old, "you": Scope("me", {"PreToolUse": "user"})})
    gone = made.add([hook("old", scope="me")], {"me": Scope("main", {"Stop": "user"}, "helper")})

    made.exchange(gone, [hook("new")], old, {"us": Scope("you")}, 0)

    assert [hook.label for hook in made.snapshot] == ["shared", "new"]
    assert made.snapshot.scopes == {
        "me": Scope("main", {"Stop": "user"}, "helper"),
        "you": Scope("me", {"PreToolUse": "user"}),
        "us": Scope("you"),
    }


# Snapshots.


def test_a_snapshot_is_not_changed_by_what_comes_after() -> None:
    made = registry(hook("a"), hook("b"))
    before = made.snapshot

    made.remove("a")
    made.switch("b", False)
    made.add([hook("c")])

    assert [(hook.label, hook.enabled) for hook in before] == [("a", True), ("b", True)]


def test_every_change_is_announced_once_and_a_refused_one_is_not() -> None:
    changes: list[int] = []
    made = Registry(1, lambda: changes.append(1))

    made.add([hook("a")])
    made.switch("a", False)
    made.remove("a")
    made.add([hook("b")])
    with pytest.raises(TooManyHooks):
        made.add([hook("c")])

    assert len(changes) == 4


def test_many_threads_lose_no_hook() -> None:
    made, start = registry(), threading.Barrier(8)

    def add(number: int) -> None:
        start.wait()
        for turn in range(50):
            made.add([hook(f"{number}-{turn}")])

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    sequences = [hook.sequence for hook in made.snapshot]
    assert len(sequences) == 400
    assert len(set(sequences)) == 400


def test_hooks_of_a_kind_hold_for_every_agent_of_it_and_locked_ones_for_their_descendants() -> None:
    made = registry(
        hook("of the kind", scope="explorer"),
        hook("locked for the kind", scope="explorer", locked=True),
        hook("of one", scope="explorer-1"),
        scopes={
            "explorer-1": Scope(parent="main", like="explorer"),
            "explorer-2": Scope(parent="main", like="explorer"),
            "helper-1": Scope(parent="explorer-1", like="helper"),
        },
    )

    assert labels(made, "explorer-1") == ["of the kind", "locked for the kind", "of one"]
    assert labels(made, "explorer-2") == ["of the kind", "locked for the kind"]
    assert labels(made, "helper-1") == ["locked for the kind"]
    assert labels(made, "main") == []


def test_what_an_agent_overrides_is_not_overridden_for_others_of_its_kind() -> None:
    made = registry(
        hook("shared", layer="project"),
        scopes={
            "explorer": Scope(overrides={"PreToolUse": "project"}),
            "explorer-1": Scope(parent="main", like="explorer"),
        },
    )

    assert labels(made, "explorer") == []
    assert labels(made, "explorer-1") == ["shared"]


@pytest.mark.parametrize(
    ("give", "said"),
    [
        (lambda hooks: hooks.record(3), "a recorder is called with every outcome, and 3 cannot be called"),
        (lambda hooks: hooks.observe(3), "an observer is called with what happens, and 3 cannot be called"),
        (lambda hooks: hooks.add_handler("own", 3), "type: 'own': 3 cannot be added (give a name and a coroutine"),
        (lambda hooks: hooks.add_handler("python", print), "type: 'python': <built-in function print> cannot be added"),
    ],
)
def test_what_cannot_be_called_or_is_there_already_is_refused_when_it_is_given(
    give: Callable[[Hooks], object], said: str
) -> None:
    with pytest.raises(InterposeError) as refused:
        give(Hooks())

    assert str(refused.value).startswith(said)
