"""The standard streams of a command: output that a hook prints, output that cannot be written, and yes-or-no questions.

Standard library only.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

__all__ = [
    "LossyErrors", "WatchedOutput", "capture_stdout", "confirm", "discard_stdout", "drop_unwritten", "is_interactive",
    "prepare_streams", "report_lost_output", "silence_log", "stdout_error", "stdout_to_stderr", "watch_stdout",
]  # fmt: skip


def is_interactive() -> bool:
    """Return whether a person can see and answer a question."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask a question on standard error and return whether the answer, typed at the terminal after it, is yes.

    Standard input may be another terminal, or typed ahead.
    """
    import termios

    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # this process has none
        return False
    try:
        termios.tcflush(terminal, termios.TCIFLUSH)
        # Not on standard output, which may be redirected to a file.
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        return os.read(terminal, 1024).decode("utf-8", "replace").strip().lower() in ("y", "yes")
    finally:
        os.close(terminal)


class WatchedOutput(io.TextIOWrapper):
    """Standard output that remembers why a write failed, so that its error differs from that of another file."""

    error: OSError | None = None

    def write(self, text: str, /) -> int:
        """Write text."""
        try:
            return super().write(text)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        """Write the buffer to the file."""
        try:
            super().flush()
        except OSError as error:
            self.error = error
            raise


class LossyErrors(io.TextIOWrapper):
    """Standard error that drops what cannot be written: a full disk must not change the exit status of a deny."""

    def write(self, text: str, /) -> int:
        """Write text."""
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Write the buffer to the file."""
        try:
            super().flush()
        except OSError:
            return


def prepare_streams() -> None:
    """Open /dev/null for each standard stream that is closed, and let errors on standard error pass.

    Without this, the next file that is opened would get the number of a closed stream, and what hooks print would be
    written into it. ``sys.stdout`` stays None: a command reports that its output is lost.
    """
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:  # another file has the number already
                os.close(opened)
            else:
                os.set_inheritable(number, True)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open until the process ends
    errors = sys.stderr
    if errors is None or (errors is sys.__stderr__ and isinstance(errors, io.TextIOWrapper)):
        binary = open(2 if errors is None else errors.fileno(), "wb", closefd=False)  # noqa: SIM115
        encoding = errors.encoding if errors is not None else "utf-8"
        sys.stderr = LossyErrors(binary, encoding=encoding, errors="backslashreplace", line_buffering=True)


def watch_stdout() -> None:
    """Replace ``sys.stdout`` by a WatchedOutput, unless a caller of ``main`` has replaced it already."""
    stream = sys.stdout
    if stream is sys.__stdout__ and isinstance(stream, io.TextIOWrapper):
        stream.flush()
        binary = open(stream.fileno(), "wb", closefd=False)  # noqa: SIM115 - open until the process ends
        by_line = stream.line_buffering or stream.write_through
        sys.stdout = WatchedOutput(binary, encoding=stream.encoding, errors=stream.errors, line_buffering=by_line)


def stdout_error() -> OSError | None:
    """Flush standard output; return why it cannot be written, or None."""
    if sys.stdout is None:  # Python found its descriptor closed
        return OSError(errno.EBADF, "it is closed")
    try:
        sys.stdout.flush()
    except OSError as error:
        return error
    return sys.stdout.error if isinstance(sys.stdout, WatchedOutput) else None


def report_lost_output(error: OSError, decision: str = "") -> None:
    """Print on standard error why the output of the command is lost, and what it would have said; discard the rest."""
    told = f"; {decision}" if decision else ""
    print(f"interpose: standard output cannot be written: {error.strerror}{told}", file=sys.stderr)
    discard_stdout()


def discard_stdout() -> None:
    """Redirect standard output to /dev/null, so that Python does not fail when it flushes the stream at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass  # standard output has no descriptor


def drop_unwritten() -> None:
    """Drop what was printed to standard output and has not been written: half an answer must not be read as one.

    A stream in memory, as a resident engine has one, is emptied.
    """
    try:
        if isinstance(sys.stdout, io.TextIOWrapper) and isinstance(sys.stdout.buffer, io.BytesIO):
            sys.stdout.flush()
            sys.stdout.seek(0)
            sys.stdout.truncate()
            return
        descriptor = sys.stdout.fileno()
        kept, nothing = os.dup(descriptor), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, descriptor)
        try:
            sys.stdout.flush()
        finally:
            os.dup2(kept, descriptor)
            os.close(kept)
            os.close(nothing)
    except (OSError, ValueError, AttributeError):
        pass  # standard output has no descriptor


def silence_log() -> None:
    """Keep the engine's log off standard error: the command reports failed hooks itself."""
    import logging

    logging.getLogger("interpose").addHandler(logging.NullHandler())


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send everything written to standard output, also by child processes, to standard error."""
    with _redirect(2), redirect_stdout(sys.stderr):
        yield


@contextmanager
def capture_stdout() -> Iterator[list[str]]:
    """Collect everything written to standard output, also by child processes; the list holds it after the block."""
    import tempfile

    printed: list[str] = []
    with tempfile.TemporaryFile() as scratch:
        try:
            with (
                open(scratch.fileno(), "w", encoding="utf-8", errors="replace", closefd=False) as stream,
                _redirect(scratch.fileno()),
                redirect_stdout(stream),
            ):
                yield printed
        finally:
            scratch.seek(0)
            printed.append(scratch.read(10_000).decode("utf-8", "replace"))


@contextmanager
def _redirect(descriptor: int) -> Iterator[None]:
    """Make descriptor 1 a copy of another descriptor."""
    for stream in (sys.stdout, sys.__stdout__):
        if stream is not None:
            stream.flush()
    try:
        saved = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)  # above 2, which is free if standard error is closed
    except OSError:  # standard output is closed
        yield
        return
    try:
        _replace_stdout(descriptor)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def _replace_stdout(descriptor: int) -> None:
    try:
        os.dup2(descriptor, 1)
    except OSError:  # that descriptor is closed
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
