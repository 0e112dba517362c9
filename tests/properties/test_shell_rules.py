"""What is true of every command line: it is judged, always alike, and quotes around known words change nothing."""

import shlex

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import ALPHABET

from interpose.matching import compile_condition
from interpose.matching.grades import GRADES
from interpose.matching.shell import CommandPattern, read_line, shell_commands

PARTS = [
    "git", "push", " ", " ", "\n", ";", "&&", "|", "&", "(", ")", "((", "))", "{", "}", "$(", "`", '"', "'", "\\", "$", "${", "$'", "<<EOF\n", "\nEOF\n", "<(",
    ">f", "&>", "#", "case x in", "esac", "a)", "if ", "then ", "fi", "f()", "[[", "]]", "*", "=", "a=(", "sh -c", "eval", "sudo -u", "xargs -I{}", "find . -exec", "!", "\t", "\0", "\ud800",
]  # fmt: skip
lines = st.one_of(
    st.text(max_size=30), st.text(ALPHABET, max_size=30), st.lists(st.sampled_from(PARTS), max_size=25).map("".join)
)
patterns = st.sampled_from(["git push *", "git push:*", "ls", "*", "* x", "git * x"]) | st.text("ab *:'\"", max_size=8)
# Words that mean nothing to a shell but themselves.
words = st.sampled_from(["git", "push", "sudo", "env", "-u", "sh", "-c", "eval", "xargs", "find", "-exec", "+", "x", "--", "nice", "/bin/git"]) | st.text("abz-./:@%+,", min_size=1, max_size=6)  # fmt: skip


@given(lines, patterns)
def test_every_line_is_judged_and_always_alike(line: str, pattern: str) -> None:
    pattern_of = CommandPattern(pattern)

    first = pattern_of.grade_line(line)
    read_line.cache_clear()

    assert first is None or first in GRADES
    assert pattern_of.grade_line(line) is first
    condition = compile_condition("Bash(git push *)")
    assert condition is not None
    assert isinstance(condition({"tool_name": "Bash", "tool_input": {"command": line}}), bool)


@given(st.lists(words, min_size=1, max_size=6), st.lists(st.integers(0, 2), min_size=6, max_size=6), patterns)
def test_quotes_around_known_words_change_nothing(parts: list[str], ways: list[int], pattern: str) -> None:
    quoted = [
        (part, f'"{part}"', "".join(f"\\{mark}" for mark in part))[way] for part, way in zip(parts, ways, strict=False)
    ]

    assert shell_commands(" ".join(quoted)) == shell_commands(" ".join(parts))
    assert CommandPattern(pattern).grade_line(" ".join(quoted)) is CommandPattern(pattern).grade_line(" ".join(parts))


@given(
    st.lists(
        st.text(
            st.characters(
                exclude_characters="".join(map(chr, [*range(9), *range(11, 32), 127])), exclude_categories=["Cs"]
            ),
            max_size=8,
        ),
        max_size=4,
    )
)
def test_what_was_quoted_is_read_back(texts: list[str]) -> None:
    [command] = shell_commands(shlex.join(["printf", *texts])) or ()

    assert [word.text for word in command] == ["printf", *texts]
    assert all(word.known for word in command)


@given(lines)
def test_a_command_on_a_line_of_its_own_before_anything_is_found(line: str) -> None:
    assert CommandPattern("git push *").grade_line("git push origin\n" + line) is not None
