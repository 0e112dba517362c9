"""``interpose log case``: a recorded firing as a case for ``interpose test``."""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any

from ...audit.protocol import StoredFiring
from ...config.text import parse
from ...errors import ConfigError, InterposeError, Problem, UsageError
from ...events import TABLE
from ...runtime.regex import regex
from ...testing.cases import SUFFIXES, load_cases

__all__ = ["append", "case_of", "to_yaml"]

_OF_ONE_SESSION = ("session_id", "transcript_path", "cwd", "hook_event_name", "tool_use_id", "prompt_id", "timestamp")
"""Fields that belong to one session, and not into a case."""

_PLAIN = regex(r"[A-Za-z_][A-Za-z0-9_ ,./()-]*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}


def case_of(firing: StoredFiring) -> dict[str, Any]:
    """Return a case with the event of a firing, and its recorded decision as the expectation."""
    if not firing.given or "truncated" in firing.body:
        raise UsageError(f"{firing.id}: its input was too large to be kept", hint="choose another firing")
    row, _ = TABLE.find(firing.event)
    defaults = row.defaults()
    fields = {
        name: value
        for name, value in firing.given.items()
        # In a case, `event` is the name of the event, also for the one event that has a field of that name.
        if name not in (*_OF_ONE_SESSION, "event") and value is not None and value != defaults.get(name)
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
        # `re:` has a meaning in a case; without it, the text is compared as a part of the reason.
        expect["reason"] = firing.reason.removeprefix("re:")
    if firing.body.get("keep_going"):
        expect["keep_going"] = True
    given = firing.given
    changed = {name: value for name, value in firing.input.items() if given.get(name) != value}
    if changed:
        expect["input"] = changed
    # A hook that fails unexpectedly makes its case fail.
    broken = {str(run["hook"]): run["status"] for run in firing.runs if run["status"] in ("failed", "timeout")}
    if broken:
        expect["hooks"] = broken
    return expect


def to_yaml(case: Mapping[str, Any]) -> str:
    """Return a case as YAML, as one item of a list."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes every text so that our reader reads it as text."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

        def text(self, text: str) -> yaml.ScalarNode:
            # Text that YAML could read as a number, a boolean or null is quoted.
            plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
            return self.represent_scalar(
                "tag:yaml.org,2002:str", _without_surrogates(text), style=None if plain else '"'
            )

    Dumper.add_representer(str, Dumper.text)
    stream = io.StringIO()
    yaml.dump([case], stream, Dumper, sort_keys=False, allow_unicode=False, default_flow_style=False, width=100)
    return stream.getvalue()


def _without_surrogates(text: str) -> str:
    """Return text without lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def append(case: Mapping[str, Any], path: str) -> None:
    """Append a case to a file of cases, which is created if needed; the rest of the file is unchanged."""
    if not path.endswith(SUFFIXES):
        raise ConfigError([Problem("neither YAML nor JSON", where=path, hint="name it .yaml or .json")])
    is_json = path.endswith(".json")
    text = _read(path)
    names = [] if _is_empty(text) else [known.name for known in load_cases(path)]
    if case["name"] in names:
        raise UsageError(f"{case['name']!r} is in the file already", where=path)
    if not names:
        text = json.dumps([case], indent=2) + "\n" if is_json else _with_newline(text) + to_yaml(case)
    else:
        text = _with_case_json(text, case) if is_json else _with_case_yaml(text, case, path)
    _replace(path, text, len(names) + 1)


def _is_empty(text: str) -> bool:
    """Return whether a file is empty or has only comments."""
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
    """Insert the case after the last one, in the same column, before any key that follows the list."""
    parsed = parse(text.encode(), path, format="yaml")
    whole = parsed.value
    at: tuple[str | int, ...] = ("cases",) if isinstance(whole, dict) else ()
    line, column = parsed.place_of((*at, 0))
    lines = re.split(r"(?<=\n)", text)
    before_first = lines[line - 1][: column - 1]
    if before_first.strip() != "-":
        raise UsageError("its cases are not on lines of their own", where=f"{path}:{line}:{column}",
                         hint="write them as a list with dashes, then append")  # fmt: skip
    indent = before_first[: before_first.index("-")]
    added = "".join(f"{indent}{one}\n" if one else "\n" for one in to_yaml(case).splitlines())
    following = [parsed.place_of((key,))[0] for key in whole if key != "cases"] if isinstance(whole, dict) else []
    end = min((found for found in following if found > line), default=len(lines) + 1) - 1
    before, after = "".join(lines[:end]), "".join(lines[end:])
    return _with_newline(before) + added + after


def _with_newline(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _replace(path: str, text: str, count: int) -> None:
    """Replace the file if the new text has so many cases; otherwise leave it unchanged."""
    directory = os.path.dirname(os.path.abspath(path))
    ending = os.path.splitext(path)[1]
    scratch = ""
    try:
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o666 & ~_umask()
        descriptor, scratch = tempfile.mkstemp(dir=directory, suffix=ending)
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if len(load_cases(scratch)) != count:
            raise UsageError("it cannot be added to the other cases")
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
