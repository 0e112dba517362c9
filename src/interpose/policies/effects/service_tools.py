"""Read what tools of services do, from their names and a few keys: repositories, databases, clouds, clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...matching.tool_inputs import plain_key
from ...runtime.regex import regex
from .effect import Effect

__all__ = ["effects_of_service"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORD = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_REPOSITORIES = _set("git github gitlab gitea bitbucket forgejo codeberg")
_DATABASES = _set("mongo mongodb redis valkey dynamodb firestore elasticsearch opensearch cassandra qdrant pinecone")
_SERVICES = _REPOSITORIES | _set(
    """
    supabase aws gcp gcloud azure kubernetes kubectl k8s helm terraform pulumi vercel netlify cloudflare heroku fly
    railway render digitalocean hetzner linode neon planetscale firebase docker ec2 s3 lambda rds
    """
)
_DELETES = _set("delete destroy drop purge flushall flushdb truncate terminate wipe deprovision teardown")
_WIDE = _set("repository repo project database namespace cluster organization org bucket account workspace stack all")
_DROPS = _set("drop flushall flushdb purge truncate wipe")
_EMPTY: tuple[Any, ...] = ({}, "{}", "", None)


def effects_of_service(tool: str, given: Mapping[str, Any], cwd: str) -> tuple[Effect, ...]:
    """Return what a tool of a server does with a service; nothing if its name does not say so."""
    if not tool.startswith("mcp_"):
        return ()
    return tuple(dict.fromkeys(_effects(tool, given, cwd)))


def _effects(tool: str, given: Mapping[str, Any], cwd: str) -> Iterator[Effect]:
    words = {word.lower() for word in _WORD.findall(tool)}
    keys = {plain_key(key): value for key, value in given.items()}
    if _REPOSITORIES & words:
        yield from _of_repository(tool, words, keys, cwd)
    if _DATABASES & words:
        if _DROPS & words:
            yield Effect("db-drop", _named(keys), tool, tool)
        elif "delete" in words and any(keys[key] in _EMPTY for key in ("filter", "query", "where") if key in keys):
            yield Effect("db-delete", f"of {_named(keys)}", tool, tool)
    elif _SERVICES & words and _DELETES & words and not {"file", "comment", "branch", "label", "tag"} & words:
        yield Effect("cloud-delete-wide" if _WIDE & words else "cloud-delete", _named(keys), tool, tool)


def _of_repository(tool: str, words: set[str], keys: Mapping[str, Any], cwd: str) -> Iterator[Effect]:
    branch = next(
        (keys[key] for key in ("branch", "ref", "base", "targetbranch") if isinstance(keys.get(key), str)), ""
    )
    pushes = "push" in words or ("file" in words and bool({"create", "update", "delete"} & words))
    if pushes and branch:
        yield Effect("push", branch, tool, tool)
    if pushes and keys.get("force") in (True, "true"):
        yield Effect("rewrite-remote", branch, tool, tool)
    if "reset" in words and "hard" in str(keys.get("mode", "")).lower():
        yield Effect("lose-changes", cwd, tool, tool, directory=cwd)


def _named(keys: Mapping[str, Any]) -> str:
    """Return what the input names: a repository, a collection, a resource."""
    wanted = ("repo", "repository", "name", "collection", "database", "resource", "projectid", "id", "table", "bucket")
    return next((str(keys[key])[:100] for key in wanted if isinstance(keys.get(key), str)), "what it is given")
