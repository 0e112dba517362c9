"""What requests to the interface of GitHub do to branches: gh api, gh repo sync, and curl."""

from __future__ import annotations

from collections.abc import Iterator

from ....matching.shell.words import ONE
from ....runtime.regex import regex
from ..rows import Arguments, Found, Program, Row

__all__ = ["PROGRAMS"]

_ANY = "*"
"""Stands for the branch that the remote has chosen, or for one that is not known."""
_API = "X=,method= f=,raw-field= F=,field= H=,header= q=,jq= t=,template= input= hostname= paginate silent i,include"
_CURL = (
    "X=,request= d=,data= data-raw= data-binary= data-ascii= json= data-urlencode= H=,header= T=,upload-file= "
    "o=,output= u=,user= A= e= b= x= m= F=,form= url= s S f L k v i g,globoff"
)
_DATA = ("d", "data-raw", "data-binary", "data-ascii", "json", "data-urlencode")
_BRANCH = regex(r"""(?:\bbranch(?:Name)?|\bbase)"?\s*[=:]\s*"?([\w./-]+)""")
_MUTATION = regex(r"\b(?:updateRefs?|createCommitOnBranch|mergeBranch)\b")


def _gh_api(arguments: Arguments) -> Iterator[Found]:
    fields = [value for name in ("f", "F") for value in arguments.options.get(name, ())]
    method = (arguments.value("X") or ("POST" if fields or arguments.has("input") else "GET")).upper()
    for address in arguments.operands[:1]:
        yield from _request(method, address, " ".join(fields))


def _curl(arguments: Arguments) -> Iterator[Found]:
    addresses = (*arguments.operands, *arguments.options.get("url", ()))
    data = [value for name in _DATA for value in arguments.options.get(name, ())]
    method = (arguments.value("X") or ("PUT" if arguments.has("T") else "POST" if data else "GET")).upper()
    for address in addresses:
        if "api.github.com" in address or "/api/v3/" in address or "/api/graphql" in address:
            yield from _request(method, address, " ".join(data))


def _request(method: str, address: str, text: str) -> Iterator[Found]:
    path = address.partition("?")[0].rstrip("/")
    _, is_ref, ref = path.partition("/git/refs/heads/")
    found = _BRANCH.search(text)
    branch = found[1] if found else _ANY
    if is_ref and method in ("PATCH", "PUT", "DELETE"):
        yield Found("delete-remote-ref" if method == "DELETE" else "rewrite-remote", ref)
    elif ("/contents/" in path and method in ("PUT", "DELETE")) or (path.endswith("/merges") and method == "POST"):
        yield Found("push", branch)
    elif path.endswith("graphql"):
        if _MUTATION.search(text):
            yield Found("push", branch)
        if "deleteRef" in text:
            yield Found("delete-remote-ref", _ANY)
    elif method == "DELETE" and "/branches/" in path and "/protection" in path:
        yield Found("unprotect-branch", path.partition("/branches/")[2].partition("/protection")[0])
    elif method == "DELETE" and _is_repository(path):
        yield Found("cloud-delete-wide", f"the repository {path.partition('repos/')[2]}")


def _is_repository(path: str) -> bool:
    """Return whether a path is that of a repository itself: ``repos/OWNER/NAME``."""
    _, found, name = path.partition("repos/")
    return bool(found) and name.count("/") == 1 and ONE not in name.partition("/")[0]


def _sync(arguments: Arguments) -> Iterator[Found]:
    if arguments.has("force"):
        yield Found("rewrite-remote", arguments.value("b") or _ANY)


PROGRAMS = {
    "gh": Program(
        (
            Row(_gh_api, (), "api", _API),
            Row(_sync, (), "repo sync", "b=,branch= force s=,source="),
        )
    ),
    "curl": Program((Row(_curl, (), "", _CURL),)),
}
