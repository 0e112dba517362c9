"""A firing as a case of ``interpose test``: what was given, and what was decided then is what is expected."""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any

from ..audit.reader import StoredFiring
from ..config.text import parse
from ..errors import ConfigError, InterposeError, Problem, UsageError
from ..events import TABLE
from ..testing.cases import SUFFIXES, load_cases

__all__ = ["append", "case_of", "written"]

_OF_THE_MOMENT = ("session_id", "transcript_path", "cwd", "hook_event_name", "tool_use_id", "prompt_id", "timestamp")
"""Fields that say when and where it was, which no expectation should rest on."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ ,./()-]*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}


def case_of(firing: StoredFiring) -> dict[str, Any]:
    """Return the case that expects of this event what was decided when it was recorded."""
    if not firing.given or "truncated" in firing.body:
        raise UsageError(f"{firing.id}: its input was too large to be kept", hint="choose another firing")
    row, _ = TABLE.find(firing.event)
    defaults = row.defaults()
    fields = {
        name: value
        for name, value in firing.given.items()
        # The name of the event stands where a field of that name would; one event has such a field.
        if name not in (*_OF_THE_MOMENT, "event") and value is not None and value != defaults.get(name)
    }
    subject = f" {firing.subject}" if firing.subject else ""
    return {
        "name": f"{firing.decision}: {firing.event}{subject}, recorded as {firing.id}",
        "given": {"event": firing.event, **fields},
        "expect": _expect(firing),
    }


def _expect(firing: StoredFiring) -> dict[str, Any]:
    expect: dict[str, Any] = {"decision": firing.decision}
    if firing.reason:
        # A reason may begin with what has a meaning in a case; then a part of it will do.
        expect["reason"] = firing.reason.removeprefix("re:")
    if firing.body.get("keep_going"):
        expect["keep_going"] = True
    given = firing.given
    changed = {name: value for name, value in firing.input.items() if given.get(name) != value}
    if changed:
        expect["input"] = changed
    # A hook that fails without being expected to makes its case fail.
    broken = {str(run["hook"]): run["status"] for run in firing.runs if run["status"] in ("failed", "timeout")}
    if broken:
        expect["hooks"] = broken
    return expect


def written(case: Mapping[str, Any]) -> str:
    """Return a case as YAML, as one item of a list."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes text so that our reader takes it for text."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

        def text(self, text: str) -> yaml.ScalarNode:
            # A number, a word with a meaning, a line of its own: what could be taken for one stands in quotes.
            plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
            return self.represent_scalar("tag:yaml.org,2002:str", _whole(text), style=None if plain else '"')

    Dumper.add_representer(str, Dumper.text)
    stream = io.StringIO()
    yaml.dump([case], stream, Dumper, sort_keys=False, allow_unicode=False, default_flow_style=False, width=100)
    return stream.getvalue()


def _whole(text: str) -> str:
    """Return text without halves of characters, which no file can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def append(case: Mapping[str, Any], path: str) -> None:
    """Add a case to the end of a file of cases, which is made if need be; all that stands in it stays as it is."""
    if not path.endswith(SUFFIXES):
        raise ConfigError([Problem("neither YAML nor JSON", where=path, hint="name it .yaml or .json")])
    is_json = path.endswith(".json")
    text = _read(path)
    names = [] if _is_empty(text) else [known.name for known in load_cases(path)]
    if case["name"] in names:
        raise UsageError(f"{case['name']!r} is there already", where=path)
    if not names:
        text = json.dumps([case], indent=2) + "\n" if is_json else _ended(text) + written(case)
    else:
        text = _with_case_json(text, case) if is_json else _with_case_yaml(text, case, path)
    _replace(path, text, len(names) + 1)


def _is_empty(text: str) -> bool:
    """Say whether a file has nothing in it, or comments only."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise UsageError("is not UTF-8", where=path) from None
    except OSError as error:
        raise UsageError(str(error.strerror), where=path, hint="check the path") from None


def _with_case_json(text: str, case: Mapping[str, Any]) -> str:
    document = json.loads(text)
    cases = document["cases"] if isinstance(document, dict) else document
    cases.append(case)
    return json.dumps(document, indent=2) + "\n"


def _with_case_yaml(text: str, case: Mapping[str, Any], path: str) -> str:
    """Put the case below the last one, in the same column; where other keys follow the list, before them."""
    parsed = parse(text.encode(), path, format="yaml")
    whole = parsed.value
    at: tuple[str | int, ...] = ("cases",) if isinstance(whole, dict) else ()
    line, column = parsed.place_of((*at, 0))
    lines = re.split(r"(?<=\n)", text)
    before_first = lines[line - 1][: column - 1]
    if before_first.strip() != "-":
        raise UsageError("its cases do not stand in lines of their own", where=f"{path}:{line}:{column}",
                         hint="write them as a list with dashes, then append")  # fmt: skip
    indent = before_first[: before_first.index("-")]
    added = "".join(f"{indent}{one}\n" if one else "\n" for one in written(case).splitlines())
    following = [parsed.place_of((key,))[0] for key in whole if key != "cases"] if isinstance(whole, dict) else []
    end = min((found for found in following if found > line), default=len(lines) + 1) - 1
    before, after = "".join(lines[:end]), "".join(lines[end:])
    return _ended(before) + added + after


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _replace(path: str, text: str, count: int) -> None:
    """Write the file whole, if it can be read as so many cases; else leave it as it was."""
    directory = os.path.dirname(os.path.abspath(path))
    ending = os.path.splitext(path)[1]
    scratch = ""
    try:
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o666 & ~_umask()
        descriptor, scratch = tempfile.mkstemp(dir=directory, suffix=ending)
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if len(load_cases(scratch)) != count:
            raise UsageError("it would not stand among the others")
        os.chmod(scratch, mode)
        os.replace(scratch, os.path.realpath(path))
        scratch = ""
    except OSError as error:
        raise UsageError(str(error.strerror), where=path, hint="check the path") from None
    except InterposeError as error:
        raise UsageError(f"the case cannot be written: {error.problem.what}", where=path,
                         hint="print it without --append, and change it by hand") from error  # fmt: skip
    finally:
        if scratch:
            os.unlink(scratch)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
