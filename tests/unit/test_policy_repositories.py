"""Policies that look at a repository: the current branch, its settings, linked worktrees, changes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from interpose.policies.call import Call
from interpose.policies.reading import read_policy
from interpose.policies.repository import find_repository


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def make_repository(tree: Path, branch: str = "topic", config: str = "") -> Path:
    """Write the files that make a directory a repository."""
    git = tree / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "objects").mkdir()
    (git / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    (git / "config").write_text(config)
    return tree


def verdict(policy: str, line: str, cwd: Path, project: Path | None = None, **options: Any) -> str:
    (use,) = read_policy(policy, options)
    fields = {"tool_name": "Bash", "tool_input": {"command": line}, "cwd": str(cwd)}
    reply = use.hook.answer(Call(fields, str(project or cwd)))
    return "pass" if reply is None else str(reply.decision)


# protected-branches: the current branch.


@pytest.mark.parametrize(
    ("branch", "line", "result"),
    [
        ("main", "git push", "ask"),
        ("main", "git push origin", "ask"),
        ("main", "git push -u origin HEAD", "ask"),
        ("main", "git push origin @", "ask"),
        ("main", "git push --force", "deny"),
        ("main", "git push --force-with-lease", "deny"),
        ("main", "git push origin --delete HEAD", "deny"),
        ("main", "git branch -m trunk", "pass"),
        ("main", "git branch -M trunk", "deny"),
        ("main", "git branch --merged | xargs git branch -d", "pass"),
        ("main", 'git push origin "$REF"', "ask"),
        ("main", "git branch -M main", "pass"),
        ("topic", "git branch -M main", "pass"),
        ("main", "git push origin topic", "pass"),
        ("main", "git push --tags", "pass"),
        ("main", "git commit -m wip", "pass"),
        ("topic", "git push", "pass"),
        ("topic", "git push origin HEAD", "pass"),
        ("topic", "git push --force", "pass"),
        ("main-menu", "git push", "pass"),
    ],
)
def test_a_push_without_a_branch_pushes_the_current_one(tmp_path: Path, branch: str, line: str, result: str) -> None:
    assert verdict("protected-branches", line, make_repository(tmp_path / "p", branch)) == result


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ('git push origin "$REF"', "pass"),
        ("git push upstream ${RELEASE_TAG}", "pass"),
        ('read REF; git push origin "$REF"', "ask"),
        ('REF=$(head -1 refs.txt); git push origin "$REF"', "ask"),
        ('git push origin "$(head -1 refs.txt)"', "ask"),
        ('git push --force origin "$REF"', "deny"),
        ("git push origin main", "ask"),
    ],
)
def test_a_ref_that_a_variable_names_may_be_let_through(tmp_path: Path, line: str, result: str) -> None:
    tree = make_repository(tmp_path / "p", "main")
    assert verdict("protected-branches", line, tree, unknownRefs="allow", unreadable="allow") == result


def test_hooks_of_the_project_may_be_used_if_they_are_committed(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "p", "main")
    line = "git config core.hooksPath .githooks"
    assert verdict("persistence", line, tree, unreadable="allow") == "ask"
    (tree / ".githooks").mkdir()
    (tree / ".githooks/pre-commit").write_text("#!/bin/sh")
    assert verdict("persistence", line, tree, unreadable="allow") == "ask"
    for words in (
        ["add", "."],
        ["-c", "user.name=Ana", "-c", "user.email=ana@example.com", "commit", "-qm", "Add hooks"],
    ):
        subprocess.run(["git", *words], cwd=tree, check=True)
    assert verdict("persistence", line, tree, unreadable="allow") == "pass"
    assert verdict("persistence", "git config --global core.hooksPath .githooks", tree, unreadable="allow") == "ask"
    (tree / ".githooks/pre-commit").write_text("#!/bin/sh\necho changed")
    assert verdict("persistence", line, tree, unreadable="allow") == "ask"


@pytest.mark.parametrize("line", ["git commit -m x", "git merge topic", "git rebase topic", "git cherry-pick abc"])
def test_work_on_a_protected_branch_is_stopped_if_wanted(tmp_path: Path, line: str) -> None:
    tree = make_repository(tmp_path / "p", "main")

    assert verdict("protected-branches", line, tree, work="deny") == "deny"
    assert verdict("protected-branches", line, tree, work="ask") == "ask"
    assert verdict("protected-branches", line, tree, work="deny", branches=["release/*"]) == "pass"


@pytest.mark.parametrize("line", ["git merge --abort", "git commit --dry-run", "git pull", "git status"])
def test_what_adds_no_commit_is_no_work(tmp_path: Path, line: str) -> None:
    assert verdict("protected-branches", line, make_repository(tmp_path / "p", "main"), work="deny") == "pass"


def test_the_branch_is_that_of_the_directory_in_which_git_works(tmp_path: Path) -> None:
    make_repository(tmp_path / "p", "topic")
    make_repository(tmp_path / "other", "main")

    for line in ("git -C ../other push", "cd ../other && git push", "git --git-dir=../other/.git push",
                 "GIT_DIR=../other/.git git push", "git --work-tree ../other push"):  # fmt: skip
        assert verdict("protected-branches", line, tmp_path / "p") == "ask", line


def test_a_branch_is_found_from_a_directory_below(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "p", "main")
    (tree / "src" / "deep").mkdir(parents=True)

    assert verdict("protected-branches", "git push", tree / "src" / "deep") == "ask"


def test_without_a_repository_a_push_passes(tmp_path: Path) -> None:
    assert verdict("protected-branches", "git push", tmp_path) == "pass"


@pytest.mark.parametrize(
    ("config", "line", "result"),
    [
        ("[push]\n\tdefault = matching\n", "git push", "ask"),
        ('[push]\n\tdefault = upstream\n[branch "topic"]\n\tmerge = refs/heads/main\n', "git push", "ask"),
        ('[branch "topic"]\n\tmerge = refs/heads/main\n', "git push", "pass"),
        ('[branch "topic"]\n\tmerge = refs/heads/main\n', "git -c push.default=upstream push", "ask"),
        ('[remote "origin"]\n\tpush = refs/heads/topic:refs/heads/main\n', "git push", "ask"),
        ('[remote "origin"]\n\tpush = refs/heads/*:refs/heads/*\n', "git push", "ask"),
        ('[branch "topic"]\n\tremote = up\n[remote "up"]\n\tpush = HEAD:refs/heads/main\n', "git push", "ask"),
        ("[push] default = simple # as always\n", "git push", "pass"),
    ],
)
def test_settings_say_what_is_pushed(tmp_path: Path, config: str, line: str, result: str) -> None:
    assert verdict("protected-branches", line, make_repository(tmp_path / "p", "topic", config)) == result


def test_the_branch_of_a_linked_worktree_is_its_own(tmp_path: Path) -> None:
    tree = linked_worktree(tmp_path, "main")

    assert verdict("protected-branches", "git push", tree) == "ask"
    assert verdict("protected-branches", "git push", tmp_path / "p") == "pass"


def test_a_branch_that_is_rebased_is_still_the_current_one(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "p")
    (tree / ".git" / "HEAD").write_text("0123456789012345678901234567890123456789\n")
    (tree / ".git" / "rebase-merge").mkdir()
    (tree / ".git" / "rebase-merge" / "head-name").write_text("refs/heads/main\n")

    assert verdict("protected-branches", "git commit -m x", tree, work="deny") == "deny"


UPSTREAM = '[push]\n\tdefault = upstream\n[branch "topic"]\n\tmerge = refs/heads/main\n'


@pytest.mark.parametrize(
    ("config", "line", "result"),
    [
        ('[remote "origin"]\n\tpush = refs/heads/topic:refs/heads/main\n', "git push origin topic", "ask"),
        ('[remote "origin"]\n\tpush = refs/heads/topic:refs/heads/main\n', "git push -f origin topic", "deny"),
        ('[remote "origin"]\n\tpush = refs/heads/topic:refs/heads/main\n', "git push origin HEAD", "ask"),
        ('[remote "origin"]\n\tpush = refs/heads/topic:refs/heads/main\n', "git push origin topic:topic", "pass"),
        ('[remote "origin"]\n\tpush = refs/heads/topic:refs/heads/main\n', "git push up topic", "pass"),
        ('[remote "origin"]\n\tpush = refs/heads/t*:refs/heads/*\n', "git push origin topic", "ask"),
        ('[remote "origin"]\n\tpush = refs/heads/x:refs/heads/main\n', "git push origin topic", "pass"),
        ('[remote]\n\tpushDefault = up\n[remote "up"]\n\tpush = HEAD:main\n', "git push", "ask"),
        (UPSTREAM, "git push origin topic", "ask"),
        (UPSTREAM, "git push origin other", "pass"),
    ],
)
def test_settings_say_where_a_named_branch_goes(tmp_path: Path, config: str, line: str, result: str) -> None:
    assert verdict("protected-branches", line, make_repository(tmp_path / "p", "topic", config)) == result


@pytest.mark.parametrize(
    ("section", "result"),
    [
        ("[include]", "ask"),
        ('[includeIf "gitdir:PLACE/"]', "ask"),
        ('[includeIf "gitdir:/elsewhere/"]', "pass"),
        ('[includeIf "onbranch:topic"]', "ask"),
        ('[includeIf "onbranch:release"]', "pass"),
        ('[includeIf "hasconfig:remote.*.url:https://a.io/**"]', "ask"),
    ],
)
def test_settings_in_included_files_count(tmp_path: Path, section: str, result: str) -> None:
    (tmp_path / "more").write_text(UPSTREAM + "[include]\n\tpath = more\n")
    config = f"{section.replace('PLACE', str(tmp_path))}\n\tpath = ../../more\n"

    assert verdict("protected-branches", "git push", make_repository(tmp_path / "p", "topic", config)) == result


def test_a_branch_may_be_a_link_to_another(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "p", "x")
    (tree / ".git" / "refs" / "heads" / "x").write_text("ref: refs/heads/main\n")

    for line in ("git push", "git push origin x", "git push origin HEAD", "git push origin x:x"):
        assert verdict("protected-branches", line, tree) == "ask", line
    assert verdict("protected-branches", "git commit -m x", tree, work="deny") == "deny"
    assert verdict("protected-branches", "git push origin y", tree) == "pass"


@pytest.mark.parametrize(
    ("branch", "line", "result"),
    [
        ("topic", "git switch main && git push", "ask"),
        ("topic", "git checkout main; git push --force", "deny"),
        ("topic", "git checkout main && git pull && git push origin HEAD", "ask"),
        ("topic", "git checkout main && git checkout gone; git push", "ask"),
        ("topic", "git checkout main; git checkout -b topic; git push", "ask"),
        ("topic", "git symbolic-ref HEAD refs/heads/main && git push", "ask"),
        ("topic", "git branch -m main && git push", "ask"),
        ("topic", "git checkout - && git push", "ask"),
        ("topic", "git worktree add ../w2 main && git -C ../w2 push", "ask"),
        ("topic", "git worktree add ../main && cd ../main && git push", "ask"),
        ("topic", "git clone . ../c && git -C ../c push", "ask"),
        ("topic", "git clone https://a.io/b.git && cd b && git push", "ask"),
        ("topic", "git checkout main -- README.md && git push", "pass"),
        ("main", "git switch -c fix && git commit -am x && git push -u origin HEAD", "pass"),
        ("main", "git checkout -b fix main && git push", "pass"),
        ("main", "git switch topic && git push", "pass"),
        ("topic", "git checkout main && git pull && git checkout -b fix && git push -u origin HEAD", "pass"),
        ("topic", "git worktree add ../w2 -b fix && cd ../w2 && git push", "pass"),
        ("topic", "git clone -b fix https://a.io/b.git && cd b && git push", "pass"),
        ("topic", "git push && git switch main", "pass"),
    ],
)
def test_a_line_may_change_the_branch_before_it_pushes(tmp_path: Path, branch: str, line: str, result: str) -> None:
    tree = make_repository(tmp_path / "p", branch)
    for name in ("main", "topic"):
        (tree / ".git" / "refs" / "heads" / name).write_text("0" * 40)

    assert verdict("protected-branches", line, tree, delete="allow") == result


# Aliases of git.

ALIASES = (
    "[alias]\n\tzy = reset --hard\n\tp = push -f origin main\n\tst = !git push -f origin main\n\tq = zy\n"
    '\tf = "!f() { git push \\"$1\\" main; }; f"\n\tup = push\n\tss = status\n\tcommit = push -f origin main\n'
    "\tloop = loop\n\tbye = !rm -rf /srv/other\n"
)


@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize(
    ("policy", "line", "result"),
    [
        ("destructive-commands", "git zy", "ask"),
        ("destructive-commands", "git q", "ask"),
        ("destructive-commands", "git -C . ZY", "ask"),
        ("destructive-commands", "git bye", "deny"),
        ("protected-branches", "git p", "deny"),
        ("protected-branches", "git st", "deny"),
        ("protected-branches", "git f origin", "ask"),
        ("protected-branches", "git up origin main", "ask"),
        ("protected-branches", 'git up origin "$x"', "pass"),
        ("protected-branches", "cd /tmp; cd - && git p", "deny"),
        ("protected-branches", "git ss", "pass"),
        ("protected-branches", "git commit -m p", "pass"),
        ("protected-branches", "git loop", "pass"),
        ("protected-branches", "git unknown", "pass"),
    ],
)
def test_an_alias_is_what_it_stands_for(tmp_path: Path, policy: str, line: str, result: str, is_own: bool) -> None:
    tree = make_repository(tmp_path / "p", "topic", ALIASES if is_own else "")
    if not is_own:
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / ".gitconfig").write_text(ALIASES)

    assert verdict(policy, line, tree) == result


def test_a_line_with_very_many_aliases_is_not_read(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "p", "topic", ALIASES)
    many = "; ".join(f"git ss {number}" for number in range(300))

    assert verdict("protected-branches", f"{many}; git p", tree) != "pass"
    assert verdict("protected-branches", "git switch main;" + " git switch gone;" * 30 + " git push", tree) == "ask"


# destructive-commands: files, refs and worktrees.


def linked_worktree(folder: Path, branch: str = "wt") -> Path:
    main = make_repository(folder / "p")
    own = main / ".git" / "worktrees" / "wt"
    own.mkdir(parents=True)
    (own / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    (own / "commondir").write_text("../..\n")
    tree = folder / "wt"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    return tree


def test_checkout_of_a_word_is_stopped_if_it_is_a_file_and_no_branch(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "p")
    (tree / "notes").write_text("x")
    (tree / "release.md").write_text("x")
    (tree / ".git" / "refs" / "heads" / "release.md").write_text("0" * 40)
    (tree / ".git" / "packed-refs").write_text(f"# pack-refs\n{'0' * 40} refs/remotes/origin/docs.site\n")

    expected = {"notes": "ask", "release.md": "pass", "docs.site": "pass", "gone.py": "pass", "topic": "pass"}
    for word, result in expected.items():
        assert verdict("destructive-commands", f"git checkout {word}", tree) == result, word


def test_a_branch_that_does_not_exist_has_nothing_to_lose(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "p")
    (tree / ".git" / "refs" / "heads" / "old").write_text("0" * 40)

    assert verdict("destructive-commands", "git checkout -B new", tree) == "pass"
    assert verdict("destructive-commands", "git checkout -B old", tree) == "ask"
    assert verdict("destructive-commands", "git branch -D old", tree) == "ask"
    assert verdict("destructive-commands", "git branch -M new", tree) == "pass"
    assert verdict("destructive-commands", "git branch -M topic old", tree) == "ask"


def test_linked_worktrees_are_free_if_wanted(tmp_path: Path) -> None:
    tree = linked_worktree(tmp_path)

    for line in ("git reset --hard", "git checkout -- .", "git clean -fd", "git restore ."):
        assert verdict("destructive-commands", line, tree) == "ask"
        assert verdict("destructive-commands", line, tree, worktrees="relax") == "pass"
        assert verdict("destructive-commands", line, tmp_path / "p", worktrees="relax") == "ask"
    assert verdict("destructive-commands", "git stash drop", tree, worktrees="relax") == "ask"
    assert verdict("destructive-commands", "git worktree remove -f ../wt", tmp_path / "p", worktrees="relax") == "pass"
    assert verdict("destructive-commands", f"git -C {tmp_path}/p reset --hard", tree, worktrees="relax") == "ask"


def test_links_do_not_lead_out_of_the_project(tmp_path: Path) -> None:
    tree = tmp_path / "p"
    tree.mkdir()
    (tmp_path / "other" / "data").mkdir(parents=True)
    (tree / "link").symlink_to(tmp_path / "other")
    options: dict[str, Any] = {"temporary": ["/nowhere"]}

    assert verdict("destructive-commands", "rm -rf link/data", tree, **options) == "deny"
    assert verdict("destructive-commands", "rm -rf link/*", tree, **options) == "deny"
    assert verdict("destructive-commands", "rm -rf link/", tree, **options) == "deny"
    assert verdict("destructive-commands", "rm -rf link/../other", tree, **options) == "deny"
    assert verdict("destructive-commands", "rm link", tree, **options) == "pass"


def test_a_path_that_leaves_a_temporary_project_is_outside(tmp_path: Path) -> None:
    tree = tmp_path / "p"
    tree.mkdir()
    options: dict[str, Any] = {"temporary": [str(tmp_path)]}

    assert verdict("destructive-commands", "rm -rf build", tree, **options) == "pass"
    assert verdict("destructive-commands", f"rm -rf {tmp_path}/other", tree, **options) == "pass"
    assert verdict("destructive-commands", "rm -rf ../other", tree, **options) == "deny"
    assert verdict("destructive-commands", "cd .. && rm -rf other", tree, **options) == "deny"


def test_another_repository_in_the_project_is_kept_if_it_exists(tmp_path: Path) -> None:
    tree = tmp_path / "p"
    make_repository(tree / "vendor" / "lib")

    assert verdict("destructive-commands", "rm -rf vendor/lib/.git", tree) == "deny"
    assert verdict("destructive-commands", "rm -rf app/.git", tree) == "pass"


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """Return a repository of git with two committed files."""
    tree = tmp_path / "p"
    tree.mkdir()
    (tree / "a.txt").write_text("a")
    (tree / "b.txt").write_text("b")
    settings = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q", "-b", "topic"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *settings, *arguments], cwd=tree, check=True, capture_output=True)
    return tree


def test_only_what_is_changed_can_be_lost_if_git_is_asked(committed: Path) -> None:
    def asked(line: str) -> str:
        return verdict("destructive-commands", line, committed, onlyIfChanged=True)

    assert [asked("git checkout -- ."), asked("git reset --hard"), asked("git clean -fd")] == ["pass"] * 3

    (committed / "a.txt").write_text("changed")
    (committed / "new.txt").write_text("new")

    assert asked("git checkout -- .") == "ask"
    assert asked("git checkout -- a.txt") == "ask"
    assert asked("git checkout -- b.txt") == "pass"
    assert asked("git restore b*") == "ask"
    assert asked("git clean -fd") == "ask"
    assert asked('git checkout -- "$f"') == "ask"
    assert asked("git stash drop") == "ask"
    assert asked("git restore :/") == "ask"
    assert asked("git -C . checkout -f") == "ask"


def test_the_whole_tree_is_looked_at_from_a_directory_below(committed: Path) -> None:
    (committed / "sub").mkdir()
    (committed / "a.txt").write_text("changed")

    assert verdict("destructive-commands", "git reset --hard", committed / "sub", onlyIfChanged=True) == "ask"


def test_deleting_tracked_files_is_asked_if_wanted(committed: Path) -> None:
    (committed / "build").mkdir()
    (committed / "build" / "out").write_text("x")

    assert verdict("destructive-commands", "rm a.txt", committed, inside="ask-tracked") == "ask"
    assert verdict("destructive-commands", "rm -rf build", committed, inside="ask-tracked") == "pass"


def test_git_is_not_asked_about_very_many_files(committed: Path) -> None:
    many = " ".join(f"f{number}" for number in range(30))

    assert verdict("destructive-commands", f"git checkout -- {many}", committed, onlyIfChanged=True) == "ask"
    assert verdict("destructive-commands", f"rm {many}", committed, inside="ask-tracked") == "ask"
    assert verdict("destructive-commands", f"rm {many}", committed) == "pass"


# skipped-checks: a directory of hooks.


def test_core_hooks_path_may_name_a_directory_that_holds_hooks(tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "pre-commit").write_text("#!/bin/sh\n")
    (tmp_path / "empty").mkdir()
    options: dict[str, Any] = {"unreadable": "allow"}

    assert verdict("skipped-checks", "git config core.hooksPath checks", tmp_path, **options) == "pass"
    assert verdict("skipped-checks", "git config core.hooksPath empty", tmp_path, **options) == "ask"
    assert verdict("skipped-checks", "git config core.hooksPath .githooks", tmp_path, **options) == "pass"
    assert verdict("skipped-checks", "git config core.hooksPath /tmp/hooks", tmp_path, **options) == "ask"


# The reader of repositories.


def test_a_broken_repository_is_none_or_has_no_branch(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("not a pointer")

    assert find_repository(str(tmp_path)) is None

    (tmp_path / ".git").unlink()
    (tmp_path / ".git").mkdir()
    repository = find_repository(str(tmp_path))

    assert repository is not None
    assert (repository.branch, repository.settings, repository.has_ref("x")) == ("", {}, False)
    assert repository.changes(str(tmp_path), untracked=False) is None


def test_a_bare_repository_is_found(tmp_path: Path) -> None:
    (tmp_path / "refs").mkdir()
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n")

    repository = find_repository(str(tmp_path))

    assert repository is not None
    assert repository.branch == "main"


def test_settings_are_read_with_sections_comments_and_quotes(tmp_path: Path) -> None:
    config = '# top\n[Core]\n\tbare = false ; no\n\teditor = "vi -n"\n[branch "a\\"b"] remote = up\n[x]\n\tflag\n'

    repository = find_repository(str(make_repository(tmp_path, config=config)))

    assert repository is not None
    assert repository.settings == {
        "core.bare": ["false"], "core.editor": ["vi -n"], 'branch.a"b.remote': ["up"], "x.flag": ["true"],
    }  # fmt: skip


def test_work_that_the_line_itself_brings_into_the_tree_can_be_lost(committed: Path) -> None:
    for line in (
        "git stash pop && git reset --hard",
        "mv ../notes . && git clean -fd",
        "git reset --hard; git stash pop",
    ):
        assert verdict("destructive-commands", line, committed, onlyIfChanged=True) == "ask"


def test_a_filter_of_the_repository_is_not_run_to_find_changes(committed: Path) -> None:
    mark = committed.parent / "ran"
    (committed / ".gitattributes").write_text("*.txt filter=x\n")
    subprocess.run(["git", "config", "filter.x.clean", f"touch {mark}; cat"], cwd=committed, check=True)
    (committed / "a.txt").write_text("a")  # as it was: git compares it by its content

    assert verdict("destructive-commands", "git reset --hard", committed, onlyIfChanged=True) == "ask"
    assert not mark.exists()


def test_an_untracked_file_can_be_lost_to_another_commit(committed: Path) -> None:
    (committed / "new.txt").write_text("only here")

    assert verdict("destructive-commands", "git reset --hard", committed, onlyIfChanged=True) == "pass"
    assert verdict("destructive-commands", "git checkout -f other", committed, onlyIfChanged=True) == "ask"
    assert verdict("destructive-commands", "git reset --hard origin/main", committed, onlyIfChanged=True) == "ask"
