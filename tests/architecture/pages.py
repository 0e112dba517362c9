"""A page of the documentation, followed from top to bottom by a program, as a reader would.

    python -m tests.architecture.pages docs/start.md

Everything that stands in a fence is tried, in order, in an empty directory ``~/project``:

- ``python`` runs, all of a page in one namespace; a fence without a language right below says what it prints.
- ``console`` is typed into a shell, as in ``tests/end_to_end``; home, times and digests may be others than shown.
- ``yaml``, ``json``, ``arma``, ``sh`` and ``javascript`` are read by whoever reads them; a configuration must load.
- ``text`` is for the eyes.

Comments above a fence change that: ``<!-- file: guard.sh -->`` writes it to a file first, ``<!-- needs: jq -->`` leaves
it out where that program is not installed, and ``<!-- shown only: why -->`` does nothing with it.
"""

import io
import os
import re
import subprocess
import sys
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Any

from tests.end_to_end.test_walkthroughs import pattern_of, steps_of

from interpose.config.mapping import read_mapping
from interpose.config.text import parse
from interpose.events import TABLE
from interpose.scripts import Commands
from interpose.scripts import parse as parse_script
from interpose.strict_json import decode

FENCE = re.compile(
    r"(?P<above>(?:^[ ]*<!-- (?:file|needs|shown only): [^\n]*? -->\n+)*)"
    r"^(?P<indent>[ ]*)```(?P<language>[^\n]*)\n(?P<text>.*?)^[ ]*```[ ]*$",
    re.DOTALL | re.MULTILINE,
)
VARIES = [
    (re.compile(r"\b\d+(?:\.\d+)? ?(ms|s)\b"), r"N \1"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "DIGEST"),
    (re.compile(r"[ \t]+"), " "),
]


class Wrong(Exception):
    """Something that a page shows and that is not so."""


@dataclass
class Fence:
    language: str
    text: str
    line: int
    file: str = ""
    needs: list[str] = field(default_factory=list)
    shown_only: bool = False
    below: str = ""
    """What stands between this fence and the one before it."""


def fences(text: str) -> Iterator[Fence]:
    """Every fence of a page, in order."""
    end = 0
    for found in FENCE.finditer(text):
        marks = re.findall(r"<!-- (file|needs|shown only): (.*?) -->", found["above"])
        inner = "".join(line.removeprefix(found["indent"]) for line in found["text"].splitlines(keepends=True))
        yield Fence(
            found["language"],
            inner,
            text.count("\n", 0, found.start("text")) + 1,
            file=next((value for mark, value in marks if mark == "file"), ""),
            needs=[value for mark, value in marks if mark == "needs"],
            shown_only=any(mark == "shown only" for mark, _ in marks),
            below=text[end : found.start()].strip(),
        )
        end = found.end()


@dataclass
class Reader:
    """Whoever follows a page: has a directory, a namespace, and what the last program printed."""

    page: str
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: str | None = None

    def follow(self, text: str) -> None:
        for fence in fences(text):
            if fence.shown_only or not all(map(which, fence.needs)):
                self.printed = None
                continue
            try:
                self.try_out(fence)
            except Exception as error:
                raise Wrong(f"{self.page}:{fence.line}: {type(error).__name__}: {error}") from error

    def try_out(self, fence: Fence) -> None:
        if fence.file:
            write(fence)
        if fence.language == "":
            if self.printed is None or fence.below:
                raise Wrong("a fence without a language says what the python fence right above it prints")
            compare(fence.text, self.printed)
        elif fence.language == "python" and not fence.file:
            self.printed = self.run(fence)
            return
        else:
            READERS[fence.language](fence.text)
        self.printed = None

    def run(self, fence: Fence) -> str:
        # Line numbers of the page, so that a traceback leads to the line.
        program = compile("\n" * (fence.line - 1) + fence.text, self.page, "exec")
        with redirect_stdout(io.StringIO()) as out:
            exec(program, self.names)
        return out.getvalue()


def write(fence: Fence) -> None:
    path = Path(fence.file).expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(fence.text, "utf-8")
    path.chmod(0o755 if fence.text.startswith("#!") else 0o644)


def compare(shown: str, printed: str) -> None:
    pattern = pattern_of([without_what_varies(line) for line in shown.splitlines()])
    said = "".join(f"{without_what_varies(line)}\n" for line in printed.rstrip().splitlines())
    if not re.fullmatch(pattern, said):
        raise Wrong(f"\nshown:\n{shown}\nprinted:\n{printed}")


def without_what_varies(line: str) -> str:
    line = line.replace(os.environ["HOME"], "~")
    for pattern, instead in VARIES:
        line = pattern.sub(instead, line)
    return line.rstrip()


# Who reads what.


def type_in(text: str) -> None:
    for step in steps_of(text):
        done = subprocess.run(
            ["sh", "-c", step.command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=60, check=False,
        )  # fmt: skip
        try:
            compare("\n".join(step.expected).rstrip() + "\n", done.stdout)
        except Wrong as wrong:
            raise Wrong(f"$ {step.command}{wrong}") from None


def read_yaml(text: str) -> None:
    check_configuration(parse(text.encode(), "page.yaml", format="yaml").value)


def read_json(text: str) -> None:
    """Read one document, or one in each line."""
    try:
        documents = [decode(text.encode())]
    except ValueError:
        documents = [decode(line.encode()) for line in text.splitlines()]
    for document in documents:
        check_configuration(document)


def check_configuration(value: Any) -> None:
    if isinstance(value, dict) and "hooks" in value and not is_settings_of_claude_code(value):
        # Scripts that it names stand further down on the page.
        read_mapping(TABLE, {key: part for key, part in value.items() if key != "scripts"}, directory=os.getcwd())


def is_settings_of_claude_code(value: dict[str, Any]) -> bool:
    groups = [group for event in value["hooks"].values() if isinstance(event, list) for group in event]
    return any("type" in hook for group in groups for hook in group.get("hooks", []))


def read_script(text: str) -> None:
    parse_script(text, source="page.arma", table=TABLE, commands=Commands())


def read_with(*program: str) -> Callable[[str], None]:
    def read(text: str) -> None:
        if which(program[0]) is None:
            return
        done = subprocess.run(program, input=text, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise Wrong(done.stderr)

    return read


def compile_python(text: str) -> None:
    compile(text, "page.py", "exec", flags=PyCF_ALLOW_TOP_LEVEL_AWAIT)  # a part of a coroutine may be shown


READERS: dict[str, Callable[[str], None]] = {
    "console": type_in,
    "yaml": read_yaml,
    "json": read_json,
    "arma": read_script,
    "sh": read_with("sh", "-n"),
    "javascript": read_with("node", "--check", "-"),
    "go": read_with("gofmt", "-e"),
    "python": compile_python,
    "text": lambda text: None,
}


def main(path: str) -> int:
    sys.path.insert(0, os.getcwd())
    try:
        Reader(os.path.basename(path)).follow(Path(path).read_text("utf-8"))
    except Wrong as wrong:
        print(wrong)
        return 1
    return 0


if __name__ == "__main__":
    # As the command line leaves: hooks that hang on purpose must not hold up the reader.
    status = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(status)
