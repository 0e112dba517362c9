"""Configuration files with something wrong with them: refused whole, at once, and with the place.

A file that cannot be read is never a file without hooks. Half of a file is never armed.
"""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.hosts import BUSY, computing, within

from interpose import ConfigError, Hooks, TooManyHooks
from interpose.config.text import MOST_BYTES

GOOD = "hooks:\n  PreToolUse:\n    - {name: guard, command: 'true'}\n"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A person of their own, who trusts everything that is found."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "INTERPOSE_OFF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INTERPOSE_TRUST", "all")
    tmp_path.chmod(0o755)
    mask = os.umask(0o022)
    yield
    os.umask(mask)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "hooks.yaml"


@pytest.fixture
def found(tmp_path: Path) -> Path:
    """A file that is found in a project."""
    path = tmp_path / "project" / ".interpose" / "hooks.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(GOOD)
    return path


def problems(file: Path, text: str | bytes | None = None) -> list[str]:
    """What is wrong with a file that is named, without its path."""
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as refused:
        Hooks.load(file)
    return [str(problem).removeprefix(f"{file}:").removeprefix(" ") for problem in refused.value.problems]


def why_not(found: Path) -> str:
    """What is wrong with a file that is found."""
    with pytest.raises(ConfigError) as refused:
        Hooks.discover(found.parents[1])
    return str(refused.value)


def loads(file: Path, text: str | bytes) -> Hooks:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Hooks.load(file)


# 173-175: what is not there, cannot be read, or says nothing.


def test_a_named_file_that_is_not_there_is_a_problem(file: Path) -> None:
    """Fault 173"""
    assert problems(file) == ["there is no such file (check the path)"]


def test_where_nothing_is_found_nothing_is_armed(tmp_path: Path) -> None:
    """Fault 173: the default, and no files are named as read."""
    hooks = Hooks.discover(tmp_path)

    assert (list(hooks), hooks.origins, hooks.warnings) == ([], (), ())


def test_a_directory_is_no_file_without_hooks(file: Path, found: Path) -> None:
    """Fault 174"""
    file.mkdir()
    found.unlink()
    found.mkdir()

    assert problems(file) == ["a directory, not a file (a configuration is a plain file)"]
    assert "a directory, not a file" in why_not(found)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_no_file_without_hooks(found: Path) -> None:
    """Fault 174"""
    found.chmod(0)

    assert problems(found)[0].startswith("may not be read")
    assert "may not be read" in why_not(found)


def test_one_file_that_cannot_be_read_keeps_the_others_from_being_armed(file: Path, tmp_path: Path) -> None:
    """Fault 174"""
    file.write_text(GOOD)

    with pytest.raises(ConfigError, match="there is no such file"):
        Hooks.load(file, tmp_path / "none.yaml")


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "hooks:\n", "hooks: {}\n", "\ufeff\n"])
def test_a_file_that_says_nothing_has_no_hooks_and_is_named_as_read(file: Path, text: str) -> None:
    """Fault 175"""
    hooks = loads(file, text)

    assert list(hooks) == []
    assert [origin.source.path for origin in hooks.origins] == [str(file)]


# 176-182: what is written wrongly.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hooks:\n  Stop: [{command: x}\n", "2:9: this list in brackets is never closed"),
        ("hooks:\n  Stop: {a: 1\n", "2:9: this mapping in braces is never closed"),
        ('hooks:\n  Stop:\n    - command: "exit 0\n', "3:16: this text is never closed"),
        ("hooks:\n\tStop: []\n", "2:1: a tab in the indentation (indent with spaces)"),
        ("hooks:\n  Stop: a: b\n", "2:10: a colon where no key can be"),
        ("hooks:\n  Stop: []\n Stop: []\n", "3:2: text that does not belong here"),
        ("hooks: {}\n--- \nhooks: {}\n", "2:1: a second document"),
        ("- hooks\n", "1:1: a list where a mapping with hooks: is expected"),
        ("hooks\n", "1:1: 'hooks' where a mapping with hooks: is expected"),
        ("hooks:\n  Stop:\n    - {matcher: *x, command: 'true'}\n", "3:17: *x is not defined"),
    ],
)
def test_yaml_that_cannot_be_read_is_refused_with_its_place(file: Path, text: str, said: str) -> None:
    """Fault 176"""
    assert problems(file, text)[0].startswith(said)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"hooks": {"Stop": [],}}', "1:"),
        ('{"hooks": {"Stop": []}', "1:"),
        ("{'hooks': {}}", "1:2"),
        ('{\n "hooks": {},\n "hooks": {}\n}', "3:2"),
        ('{"hooks": {"timeout": NaN}}', "1:23"),
        ('{"hooks": {"timeout": 1e999}}', "1:23"),
        ('{"hooks": {}} {}', "1:15"),
    ],
)
def test_json_that_cannot_be_read_is_refused_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    """Fault 176, 181, 182"""
    assert problems(tmp_path / "hooks.json", text)[0].startswith(place)


def test_one_bad_entry_among_many_is_named_and_none_is_armed(file: Path) -> None:
    """Fault 177"""
    entries = ["    - {command: 'true'}\n"] * 109
    entries[57] = "    - {matcher: {}, command: 'true'}\n"

    said = problems(file, "hooks:\n  maxHooksPerPoint: 0\n  PreToolUse:\n" + "".join(entries))

    assert said == ["61:8: matcher: a mapping where text is expected"]


def test_every_problem_of_a_file_is_said_at_once(file: Path) -> None:
    """Fault 177-180"""
    said = problems(
        file,
        """\
hooks:
  errorBehaviour: log
  PreToolUze: []
  PreToolUse:
    - {comand: "true"}
    - {mather: Bash, command: "true"}
    - {command: 5}
    - {command: "true", timeout: "5"}
    - {command: "true", priority: high}
    - {command: "true", onError: panic}
    - {handler: ./check.py}
    - {handler: check.py, type: shell}
    - nothing
  Stop: {hooks: [], overide: true}
agents:
  - backend: {hooks: {Stop: []}}
permissions: {shellExec: maybe}
scripts: hooks.arma
""",
    )

    # fmt: off
    assert {line.split(" ")[0] for line in said} == {
        "2:3:", "3:3:", "5:8:", "6:8:", "7:8:", "8:25:", "9:25:", "10:25:", "11:8:", "12:27:", "13:7:", "14:21:",
        "16:5:", "17:15:", "18:1:",
    }
    # fmt: on
    text = "\n".join(said)
    for hint in ("errorBehavior?", "PreToolUse?", "command?", "matcher?", "type: command", "python"):
        assert hint in text


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("hooks: []", "1:1: a list where settings and events are expected"),
        ("hooks: {Stop: {}}", None),
        ("hooks: {Stop: 5}", "1:9: 5 where a list of hooks is expected"),
        ("hooks: {Stop: [5]}", "1:16: 5 where a hook is expected"),
        ("hooks: {Stop: [{command: []}]}", "1:17: command: [] where a line for the shell is expected"),
        ("hooks: {Stop: [{command: ''}]}", "1:17: command: '' where a line for the shell is expected"),
        ("hooks: {Stop: [{handler: 5}]}", "1:17: handler: 5 cannot be called"),
        ("hooks: {Stop: [{}]}", "1:16: a hook without handler:, command: or prompt:"),
        ("hooks: {Stop: [{command: x, enabled: 'yes'}]}", "1:29: enabled: 'yes' where true or false is expected"),
        ("hooks: {Stop: [{command: x, locked: 1}]}", "1:29: locked: 1 where true or false is expected"),
        ("hooks: {Stop: [{command: x, matcher: y}]}", "1:16: Stop has nothing that a matcher could be compared with"),
        ("hooks: {enforce: 0}", "1:9: enforce: 0 where true or false is expected"),
        ("hooks: {maxHooksPerPoint: -1}", "1:9: maxHooksPerPoint: -1 is not a number of hooks"),
        ("hooks: {maxHooksPerPoint: 1.5}", "1:9: maxHooksPerPoint: 1.5 is not a number of hooks"),
        ("hooks: {errorBehavior: [log]}", "1:9: errorBehavior: ['log'] is not a choice"),
        ("agents: {}", "1:1: a mapping where a list of agents is expected"),
        ("agents: [{id: a, backend: {hooks: []}}]", "1:28: a list where settings and events are expected"),
        ("hooks: {Stop: {override: true, hooks: []}}", "1:16: only an agent can override shared hooks"),
        ("permissions: []", "1:1: a list where names and answers are expected"),
        ("permissions: {a: true}", "1:15: True is not an answer"),
        ("dialect: latin\nhooks: {}", "1:10: there is no dialect 'latin' (native or claude)"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(file: Path, entry: str, said: str | None) -> None:
    """Fault 180"""
    if said is None:
        assert list(loads(file, entry)) == []
    else:
        assert problems(file, entry)[0].startswith(said)


def test_a_key_that_stands_there_twice_is_refused(file: Path) -> None:
    """Fault 181: readers take the last one, and the guard in the first is gone."""
    said = problems(file, "hooks:\n  PreToolUse: [{command: 'exit 2'}]\n  Stop: []\n  PreToolUse: []\n")

    assert said == ["4:3: the key 'PreToolUse' is there twice, first in line 2 (remove one of them)"]


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", "1e999", "9" * 5000])
def test_numbers_that_nobody_can_count_with_are_refused(file: Path, number: str) -> None:
    """Fault 182"""
    assert problems(file, f"hooks:\n  Stop: [{{command: x, timeout: {number}}}]\n")[0].startswith("2:32: ")


@pytest.mark.parametrize("timeout", ["-1", "-0.5", "true", "'5'", "5s", "[5]", "1e12", "{}", "30_000"])
def test_a_timeout_of_a_hook_without_sense_is_refused(file: Path, timeout: str) -> None:
    """Fault 180, C-8"""
    said = problems(file, f"hooks:\n  Stop:\n    - {{command: x, timeout: {timeout}}}\n")

    assert len(said) == 1
    assert said[0].startswith("3:20: timeout: ")
    assert "is not a time in seconds" in said[0]


@pytest.mark.parametrize(
    "setting",
    ["timeout: 5", "timeout: 0", "timeout: -5000", "timeout: 5s", "timeout: true", "timeout: 1e10", "timeout: null",
     "defaultTimeout: -1s", "defaultTimeout: soon", "defaultTimeout: 5 days", "defaultTimeout: true",
     "totalTimeout: []", "totalTimeout: 1e300h", "totalTimeout: nans", "totalTimeout: infs"],
)  # fmt: skip
def test_a_time_in_the_settings_without_sense_is_refused(file: Path, setting: str) -> None:
    """Fault 180, C-8: 5 ms is no ceiling; whoever wrote it meant seconds."""
    said = problems(file, f"hooks:\n  {setting}\n")

    assert len(said) == 1
    assert said[0].startswith(f"2:3: {setting.partition(':')[0]}: ")


def test_a_timeout_of_0_is_not_set(file: Path) -> None:
    """C-8"""
    (hook,) = loads(file, "hooks:\n  Stop: [{command: x, timeout: 0}]\n")

    assert hook.timeout is None


# 183-189: what is too much, and what is no plain data.


def test_a_file_that_is_too_large_is_refused_quickly(file: Path) -> None:
    """Fault 183"""
    with file.open("wb") as opened:
        opened.truncate(100 * 1024 * 1024)

    with computing(1.0):
        assert problems(file) == [f"has more than {MOST_BYTES} bytes"]


def test_a_hundred_thousand_hooks_are_refused(file: Path) -> None:
    """Fault 183"""
    text = "hooks:\n  Stop:\n" + "  - {command: x}\n" * 100_000

    with computing(8.0):
        assert "values" in problems(file, text)[0]


@pytest.mark.slow
def test_ten_thousand_hooks_load_and_fire_in_reasonable_time(file: Path) -> None:
    """Fault 183"""
    lines = "".join(f"    - {{name: h{n}, matcher: T{n}, handler: m.f, enabled: false}}\n" for n in range(10_000))

    with computing(8.0):
        hooks = loads(file, f"hooks:\n  maxHooksPerPoint: 0\n  PreToolUse:\n{lines}")
    with computing(2.0):
        assert hooks.fire_sync("PreToolUse", tool_name="T9999").allowed

    assert [hook.source for hook in hooks][9_999] == f"{file}:10003"


def test_the_limit_of_hooks_at_one_event_refuses_the_whole_file(file: Path) -> None:
    """Fault 183, C-35: said quickly, however many there are."""
    text = "hooks:\n  Stop:\n" + "".join(f"  - {{command: 'echo {n}'}}\n" for n in range(5_000))
    file.write_text(text)

    with computing(8.0), pytest.raises(TooManyHooks, match="Stop has 50 hooks already"):
        Hooks.load(file)


def test_the_limit_of_hooks_says_where_the_one_too_many_stands(file: Path) -> None:
    """Contract 6: file:line:column."""
    file.write_text("hooks:\n  maxHooksPerPoint: 1\n  Stop:\n  - {command: a}\n  - {command: b}\n")

    with pytest.raises((ConfigError, TooManyHooks), match=r"hooks\.yaml:5"):
        Hooks.load(file)


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "values"),
        ("a: &a [*a]\n", "1:8: *a refers to itself"),
        ("a: &a {b: *a}\n", "1:11: *a refers to itself"),
        ("hooks: !!python/object/apply:os.system ['touch owned']\n", "1:8: the tag !!python/object/apply:os.system"),
        ("hooks: !include other.yaml\n", "1:8: the tag !include"),
        ("a: " + "[" * 3000 + "]" * 3000 + "\n", "levels"),
        ("a: " + "{b: " * 3000 + "}" * 3000 + "\n", "levels"),
        ("".join(f"{' ' * n}a:\n" for n in range(3000)), "levels"),
    ],
    ids=["anchors bomb", "list in itself", "mapping in itself", "object", "include", "lists", "mappings", "blocks"],
)
def test_yaml_that_is_no_plain_data_of_a_plain_size_is_refused_quickly(
    file: Path, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 184, 185, 186, 188, 190"""
    monkeypatch.chdir(file.parent)

    with computing(2.0):
        assert said in problems(file, text)[0]
    assert not (file.parent / "owned").exists()


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "NO", "y", "12:30:45", "0o1", "1_000"])
def test_words_that_yaml_once_took_for_something_else_are_text(file: Path, word: str) -> None:
    """Fault 187: what is text here is refused where true or false, or a number, belongs."""
    (hook,) = loads(file, f"hooks:\n  Stop:\n    - {{command: x, description: {word}}}\n")

    assert hook.description == word
    assert problems(file, f"hooks:\n  Stop:\n    - {{command: x, enabled: {word}}}\n") == [
        f"3:20: enabled: '{word}' where true or false is expected"
    ]


def test_a_matcher_that_looks_like_a_word_of_yaml_is_the_name_of_a_tool(file: Path) -> None:
    """Fault 187"""
    hooks = loads(file, "hooks:\n  PreToolUse:\n    - {matcher: no, command: 'exit 2'}\n")

    assert hooks.fire_sync("PreToolUse", tool_name="no").denied
    assert hooks.fire_sync("PreToolUse", tool_name="False").allowed


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GOOD.encode("utf-16"), "1:1: is UTF-16 or UTF-32 text (save it as UTF-8)"),
        (GOOD.encode("utf-32-le"), "1:1: is UTF-16 or UTF-32 text (save it as UTF-8)"),
        (GOOD.encode() + b"# caf\xe9\n", "4:6: byte 0xe9 is not UTF-8 (save it as UTF-8)"),
        (GOOD.encode() + b"# \x00\n", "4:3: "),
        (GOOD.encode() + "x: a\u2028b\n".encode(), "4:5: "),
    ],
    ids=["UTF-16", "UTF-32", "Latin-1", "NUL", "a hidden line break"],
)
def test_text_in_another_encoding_is_refused(file: Path, data: bytes, said: str) -> None:
    """Fault 189"""
    assert problems(file, data)[0].startswith(said)


@pytest.mark.parametrize("name", ["hooks.yaml", "hooks.json"])
def test_a_byte_order_mark_is_accepted_and_moves_no_column(tmp_path: Path, name: str) -> None:
    """Fault 189"""
    text = '{"hooks": {"Stop": [{"command": "true"}], "Stopp": []}}'
    file = tmp_path / name

    assert problems(file, b"\xef\xbb\xbf" + text.encode())[0].startswith("1:43: ")
    assert len(list(loads(file, b"\xef\xbb\xbf" + text.replace("Stopp", "x-").encode()))) == 1


# 190: files that name files.


@pytest.mark.parametrize("name", ["../../outside.arma", "linked.arma"])
def test_a_script_of_a_found_file_is_one_that_a_trusted_file_may_name(found: Path, tmp_path: Path, name: str) -> None:
    """Fault 190, 191: one outside the project is part of what is trusted; a link out of the project is refused."""
    (tmp_path / "outside.arma").write_text("hook Stop /context note\n")
    found.write_text(f"scripts: [{name}]\n")

    if name.startswith("."):
        (origin,) = Hooks.discover(found.parents[1]).origins
        assert list(origin.references) == [str(tmp_path / "outside.arma")]
    else:
        (found.parent / "linked.arma").symlink_to(tmp_path / "outside.arma")
        assert "linked.arma: a link out of the project" in why_not(found)


def test_a_script_that_is_a_fifo_is_not_waited_for(file: Path) -> None:
    """Fault 191"""
    os.mkfifo(file.with_name("pipe.arma"))

    with within(BUSY), pytest.raises(ConfigError, match=r"pipe\.arma:1:1: a FIFO, not a file"):
        loads(file, "scripts: [pipe.arma]\n")


def test_a_script_that_is_not_utf8_is_refused_by_its_own_name(file: Path) -> None:
    """Fault 189"""
    file.with_name("a.arma").write_bytes(b"\xff\n")

    with pytest.raises(ConfigError, match=r"a\.arma:1:1: byte 0 is not UTF-8"):
        loads(file, "scripts: [a.arma]\n")


# 191, 192: files that are no plain files, or that others can write to.


@pytest.mark.parametrize("kind", ["link", "dangling link", "link to a device", "FIFO", "socket"])
def test_what_is_found_must_be_a_plain_file(found: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 191"""
    found.rename(found.with_name("real.yaml"))
    said = "a symbolic link that was not named explicitly"
    match kind:
        case "link":
            found.symlink_to("real.yaml")
        case "dangling link":
            found.symlink_to("gone.yaml")
        case "link to a device":
            found.symlink_to("/dev/zero")
        case "FIFO":
            os.mkfifo(found)
            said = "a FIFO, not a file"
        case _:
            monkeypatch.chdir(found.parent)  # the path of a socket has to be short
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(found.name)
            said = "a socket, not a file"

    with within(BUSY):
        assert said in why_not(found)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/stdin"])
def test_a_device_that_is_named_is_refused(device: str) -> None:
    """Fault 191"""
    with within(BUSY), pytest.raises(ConfigError):
        Hooks.load(device)


def test_a_link_that_is_named_is_followed_and_programs_are_found_beside_the_file(tmp_path: Path) -> None:
    """Fault 191: named by a person, who answers for it."""
    real = tmp_path / "real"
    real.mkdir()
    (real / "hooks.yaml").write_text("hooks:\n  Stop: [{handler: ./check.sh, type: command}]\n")
    (tmp_path / "link.yaml").symlink_to(real / "hooks.yaml")

    (hook,) = Hooks.load(tmp_path / "link.yaml")

    assert hook.binding.target.path == str(real / "check.sh")


@pytest.mark.parametrize("mode", [0o666, 0o646, 0o664])
def test_a_found_file_that_others_can_write_to_is_refused_though_trusted(found: Path, mode: int) -> None:
    """Fault 192"""
    found.chmod(mode)

    assert f"can be written to by {'its group' if mode == 0o664 else 'every user'} (mode {mode:04o})" in why_not(found)
    assert len(list(Hooks.load(found))) == 1


def test_a_found_file_in_a_folder_that_others_can_write_to_is_refused(found: Path) -> None:
    """Fault 192: they could put another one there."""
    found.parent.chmod(0o777)

    assert "its directory can be written to by every user" in why_not(found)


def test_a_script_of_a_found_file_that_others_can_write_to_is_refused(found: Path) -> None:
    """Fault 192"""
    script = found.with_name("lines.arma")
    script.write_text("hook Stop /context note\n")
    script.chmod(0o666)
    found.write_text("scripts: [lines.arma]\n")

    assert f"{script}: is run, and can be written to by every user" in why_not(found)


@pytest.mark.parametrize(
    ("hook", "name"),
    [
        ("type: command, handler: ./check.sh", "check.sh"),
        ("command: sh .interpose/check.sh", "check.sh"),
        ("handler: mine.check", "mine.py"),
        ("handler: mine.rules.check", "mine/words.py"),
    ],
)
def test_what_a_found_file_runs_and_others_can_write_to_is_refused(found: Path, hook: str, name: str) -> None:
    """Fault 192: what is trusted now would be something else when it runs."""
    script = found.parent / name
    script.parent.mkdir(exist_ok=True)
    script.write_text("pass\n")
    found.write_text(f"hooks:\n  PreToolUse:\n    - {{{hook}}}\n")
    assert len(list(Hooks.discover(found.parents[1]))) == 1

    script.chmod(0o777)
    assert f"{script}: is run, and can be written to by every user (mode 0777)" in why_not(found)
    assert len(list(Hooks.load(found))) == 1

    script.chmod(0o755)
    outside = found.parents[1] / "open"
    outside.mkdir()
    outside.chmod(0o777)
    moved = script.rename(outside / script.name)
    script.symlink_to(moved)
    assert f"{moved}: is run, and its directory can be written to by every user" in why_not(found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_found_file_of_another_user_is_refused(found: Path) -> None:
    """Fault 192"""
    os.chown(found, 12345, -1)

    assert "belongs to another user (uid 12345)" in why_not(found)


def test_two_found_files_that_are_wrong_are_both_named(found: Path) -> None:
    """Fault 177"""
    local = found.with_name("hooks.local.json")
    local.write_text("{")
    found.write_text("hooks: {Stopp: []}\n")

    said = why_not(found)

    assert f"{found}:1:9: " in said
    assert f"{local}:1:" in said


# 200: what is armed can be asked for.


def test_what_is_armed_is_listed_with_its_files_and_their_hashes(found: Path) -> None:
    """Fault 200"""
    hooks = Hooks.discover(found.parents[1])

    assert [(hook.name, hook.event, hook.layer, hook.source) for hook in hooks] == [
        ("guard", "PreToolUse", "project", f"{found}:3")
    ]
    (origin,) = hooks.origins
    assert (origin.trusted, origin.real_path, len(origin.sha256), len(origin.digest)) == (True, str(found), 64, 64)


# 203-206: matchers in files.


@pytest.mark.parametrize("matcher", ["re:([", "re:a{2,1}", "|", " | ", "re:(?=a)b"])
def test_a_matcher_that_cannot_be_understood_is_refused(file: Path, matcher: str) -> None:
    """Fault 203"""
    said = problems(file, f"hooks:\n  PreToolUse:\n    - {{matcher: '{matcher}', command: x}}\n")

    assert len(said) == 1
    assert said[0].startswith("3:")


def test_a_regular_expression_that_would_take_for_ever_takes_no_time(file: Path) -> None:
    """Fault 202"""
    hooks = loads(file, "hooks:\n  PreToolUse:\n    - {matcher: 're:(a+)+$', command: 'exit 2'}\n")

    with computing(1.0):
        assert hooks.fire_sync("PreToolUse", tool_name="a" * 5000 + "!").allowed


@pytest.mark.parametrize(
    ("matcher", "tool", "denied"),
    [
        ("re:Edit.*", "NotebookEdit", False),
        ("re:Edit.*", "EditFile", True),
        ("Edit", "NotebookEdit", False),
        ("bash", "Bash", False),
        ("Bash", "Bash", True),
        ("mcp__memory", "mcp__memory__read", False),
        ("mcp__memory__*", "mcp__memory__read", True),
        ("Bash", "mcp__x__Bash", False),
    ],
)
def test_a_matcher_means_the_whole_name_as_it_is_written(file: Path, matcher: str, tool: str, denied: bool) -> None:
    """Faults 205, 206, 210"""
    hooks = loads(file, f"hooks:\n  PreToolUse:\n    - {{matcher: '{matcher}', command: 'exit 2'}}\n")

    assert hooks.fire_sync("PreToolUse", tool_name=tool).denied is denied


def test_loading_runs_and_imports_nothing(file: Path) -> None:
    """Faults 193, 200: what a file names runs when its turn comes, and not before."""
    file.with_name("mine.py").write_text("raise SystemExit('imported')\n")

    hooks = loads(
        file,
        "hooks:\n  PreToolUse:\n    - {name: a, handler: mine.check}\n    - {name: b, command: touch ran}\n",
    )

    assert len(list(hooks)) == 2
    assert not file.with_name("ran").exists()
    began = time.monotonic()
    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash")
    assert outcome.denied
    assert time.monotonic() - began < BUSY
