"""An effect: one thing that a command or a tool does, and the words for each kind."""

from __future__ import annotations

from ...matching.grades import Grade
from ...matching.shell.words import MANY, ONE
from ...runtime.named_tuples import NamedTuple

__all__ = ["KINDS", "Effect", "phrase_of", "say", "shown"]

_LONGEST = 120
_PREPOSITIONS = ("to", "in", "from", "of", "on", "below")


class Effect(NamedTuple):
    """One thing that a call does."""

    kind: str
    """A key of ``KINDS``."""
    target: str = ""
    """The file as an absolute path if its directory is known; or the ref, host, URL, variable, package or resource.

    ``ONE`` and ``MANY`` stand for what is unknown in it. Empty if there is none, or it is unknown.
    """
    command: str = ""
    """The command as it can be shown; for a tool, its name."""
    program: str = ""
    grade: Grade = "certain"
    values: tuple[str, ...] = ()
    """Names that may say which environment it is: a context, a profile, a host, a database."""
    directory: str | None = ""
    """Where the command runs; None if that is unknown."""


KINDS: dict[str, str] = {
    # Files. Their targets are absolute paths.
    "read-files": "reads {target}",
    "write-files": "writes {target}",
    "delete-files": "deletes {target}",
    "delete-files-for-good": "deletes {target} for good",
    "empty-files": "empties {target}",
    "move-files": "moves {target} away",
    "rename-files": "gives {target} another name",
    "change-case": "changes the case of the names {target}",
    "link-files": "makes another name for {target}",
    "make-folder": "creates the folder {target}",
    "change-files": "changes {target}",
    "add-files": "adds {target} to what git keeps",
    "fill-disk": "writes so much to {target} that it may fill the disk",
    "computed-options": "is given options that are not known before it runs",
    "change-mode": "changes the mode or the owner of {target}",
    "not-executable": "makes {target} not executable",
    "change-tree": "changes modes or owners of everything below {target}",
    "lock-out": "takes away the rights on {target}",
    "open-permissions": "lets every user write to {target}",
    "setuid": "lets every user run {target} as its owner",
    # git.
    "lose-changes": "discards uncommitted changes in {target}",
    "lose-changes-perhaps": "discards uncommitted changes if {target} is a file",
    "abort-merge": "gives up a merge or a rebase, and with it what was resolved in it",
    "lose-untracked": "deletes untracked files in {target}",
    "lose-stash": "deletes stashed changes {target}",
    "lose-commits": "deletes or moves the ref {target}, and with it the way to its commits",
    "change-branch": "deletes, renames or moves the branch {target}",
    "unprotect-branch": "takes the protection of the branch {target} away",
    "lose-recovery": "deletes what git keeps to restore lost commits",
    "rewrite-history": "rewrites history {target}",
    "rewrite-remote": "overwrites {target} on the remote",
    "rewrite-remote-checked": "overwrites {target} on the remote unless others have pushed",
    "delete-remote-ref": "deletes {target} on the remote",
    "delete-tag": "deletes the tag {target}",
    "push": "pushes to {target}",
    "commit-here": "commits on the current branch",
    "amend": "rewrites the last commit",
    "skip-checks": "skips the checks of the project {target}",
    "change-remote": "changes a remote to {target}",
    "redirect-source": "makes git go elsewhere: {target}",
    "switch-branch": "switches to the branch {target}",
    "git-alias": "runs what an alias of git stands for: {target}",
    # Machine.
    "disk-write": "writes to the disk {target}",
    "format-disk": "erases {target}",
    "read-disk": "opens the disk {target} with a program that can change it",
    "mount": "mounts or unmounts {target}",
    "power": "stops or restarts the machine",
    "stop-service": "stops or disables the service {target}",
    "start-service": "starts or enables the service {target}",
    "kill": "ends the process {target}",
    "kill-many": "ends many processes at once: {target}",
    "fork-bomb": "starts processes without end",
    "firewall-off": "switches a firewall off",
    "network-change": "changes the network of the machine",
    "network-down": "cuts a connection of the machine {target}",
    "kernel-change": "changes settings or modules of the kernel {target}",
    "lose-crontab": "deletes all cron jobs",
    "lose-history": "deletes the history of the shell",
    "remove-packages": "removes packages of the system: {target}",
    "change-users": "changes users or groups: {target}",
    # Privilege and containers.
    "elevate": "runs as root: {target}",
    "elevate-user": "runs as another user: {target}",
    "elevated-shell": "starts a shell as another user",
    "grant-root": "gives a user the rights of root {target}",
    "load-kernel-code": "changes the kernel: {target}",
    "host-root": "gives a container the rights of the host's root by {target}",
    "host-socket": "lets a container control the host's containers by {target}",
    "host-files": "shows a container files of the host by {target}",
    "host-capability": "gives a container further rights on the host by {target}",
    "host-network": "gives a container the host's network",
    "container-change": "changes containers {target}",
    "container-cleanup": "removes containers or images {target}",
    "container-all": "stops or removes all containers or images at once {target}",
    "container-image": "removes the image {target} by force",
    "container-cluster": "deletes a local cluster or virtual machine {target}",
    "container-data-loss": "deletes data of containers {target}",
    # Clusters, clouds, databases.
    "cloud-read": "reads {target}",
    "cloud-change": "changes {target}",
    "cloud-change-unseen": "changes {target} without showing what",
    "cloud-delete": "deletes {target}",
    "cloud-select": "selects the environment {target}",
    "cloud-delete-wide": "deletes {target} and everything in it",
    "db-drop": "drops {target}",
    "db-delete": "deletes or changes all rows {target}",
    "db-reset": "resets the database {target}",
    "db-schema": "changes the schema {target}",
    # Code, packages, sources.
    "run-downloaded": "runs what it downloads from {target}",
    "run-extracted": "runs a program of an archive that it downloads from {target}",
    "run-decoded": "runs a text that it decodes",
    "computed-words": "is given options or code that are not known before it runs",
    "load-code": "makes programs run or load {target}",
    "code-command": "runs a command by code: {target}",
    "computed-code": "runs code or commands that it computes",
    "apply-downloaded": "applies what it downloads from {target}",
    "network-shell": "gives a shell to the network",
    "tunnel": "opens a tunnel to {target}",
    "install-package": "installs {target}",
    "foreign-package": "installs a package from {target}",
    "global-install": "installs {target} for the whole system",
    "run-package": "downloads and runs the package {target}",
    "install-scripts": "installs packages whose scripts run",
    "pull-image": "pulls the image {target}",
    "tls-off": "switches the check of certificates off",
    "clone": "clones {target}",
    "publish": "publishes a package",
    "publish-image": "publishes an image",
    "publish-release": "publishes a release",
    "merge": "merges or closes what others see",
    "make-public": "makes {target} public",
    "unpublish": "takes back what was published",
    "change-owners": "changes who may publish or install it",
    # Secrets and network.
    "print-env": "prints the environment",
    "print-variable": "prints the variable {target}",
    "read-secret": "prints the secret {target}",
    "read-decoded": "works with a file whose name it decodes",
    "print-key": "prints private keys or passwords of a keyring",
    "use-secret-file": "uses the secret file {target}",
    "give-secret-file": "is given the secret file {target}",
    "secret-in-line": "has a secret in the command line",
    "send-secret": "sends {target} away",
    "send-files": "sends {target} away",
    "serve-files": "lets others read {target} over the network",
    "request": "asks {target}",
    "send": "sends data to {target}",
    "listen": "waits for connections",
    # What runs later, and the guards.
    "persist": "has {target} run later",
    "persist-service": "has a service start by itself: {target}",
    "persist-command": "makes git run a command later: {target}",
    "guard": "changes what guards the agent: {target}",
    "guard-process": "ends a process that guards the agent: {target}",
    "agent-config": "changes the configuration of an agent",
    "agent-unguarded": "starts an agent without guards",
}
"""The kinds of effects. The phrase completes "`COMMAND` …", with the target in place of ``{target}``."""


def say(effect: Effect, instead: str = "") -> str:
    """Return what an effect does as a reason: the command, the phrase of its kind, and what to do instead."""
    command = effect.command if len(effect.command) <= _LONGEST else effect.command[:_LONGEST] + "…"
    return f"`{command}` {phrase_of(effect)}" + (f" ({instead})" if instead else "")


def phrase_of(effect: Effect) -> str:
    """Return the phrase of an effect's kind with its target; without a target it ends where the target would be."""
    phrase = KINDS[effect.kind].replace("{target}", effect.target or "…")
    begin = phrase.removesuffix(" …").removesuffix(":")
    return phrase if begin.rpartition(" ")[2] in _PREPOSITIONS else begin


def shown(text: str) -> str:
    """Return a target or a command for a reason: an ellipsis stands for what is unknown."""
    return text.replace(ONE, "…").replace(MANY, "…")
