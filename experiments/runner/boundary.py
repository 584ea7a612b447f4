"""The boundary of every command: whatever happens inside ends in one line on stderr and an exit code.

An exception that nobody foresaw is written, with its traceback, to a file that the line names; HYDRA_FULL_ERROR=1
raises it instead. Ctrl-C and SIGTERM stop the work in good order; the second of them stops the process at once.
"""

import argparse
import contextlib
import io
import os
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from experiments.contract import InputError, StoppedError
from experiments.system import files, terminal

LOG = "traceback.log"
STOPPING = (signal.SIGINT, signal.SIGTERM)
_asked: list["Interrupted"] = []
"""The interruption that a signal has asked for, until a command ends."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM. `code` is the exit code of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


class Parser(argparse.ArgumentParser):
    """Parser of a script's arguments. Mistakes raise InputError, in one sentence without the usage."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message)


def count(text: str) -> int:
    """A positive integer as an argument of a script."""
    if not text.isdecimal() or not 1 <= (value := int(text[:12])) < 2**31:
        raise argparse.ArgumentTypeError(f"must be an integer from 1 to 2^31, got {text}")
    return value


def run_command(action: Callable[[], int], *, final: bool = False) -> int:
    """Carry out a command.

    Args:
        action: what to do; returns an exit code.
        final: the process ends with it, at once if it was interrupted: threads of the device may still be at work.

    Returns:
        The action's own code, 1 if it had to stop, 2 for input that cannot be used, 130 after Ctrl-C, 143 after
        SIGTERM.
    """
    with _reopen_closed_streams(), _interruptible(final):
        if final:
            warnings.showwarning = lambda message, *rest, **more: _say(f"warning: {' '.join(str(message).split())}")
            tell = sys.unraisablehook
            sys.unraisablehook = lambda lost: None if lost.exc_value in _asked else tell(lost)
        code = _outcome(action)
        if final and code > 128:
            _flush()
            os._exit(code)
    return code


def stop_if_asked() -> None:
    """Check that every interruption that a signal has asked for arrived: raise one that did not.

    Python drops an exception that a signal raises inside a finaliser or a callback of the garbage collector, as JAX
    has one.
    """
    if _asked:
        raise _asked[0]


def one_line(error: BaseException) -> str:
    """An error of any kind on one line, not too long."""
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def write_traceback(error: BaseException, directory: Path | None = None) -> Path:
    """Writes the traceback of an error into a directory of results or a temporary file. Returns the file."""
    text = "".join(traceback.format_exception(error))
    if directory is not None:
        with contextlib.suppress(OSError):
            path = directory / LOG
            files.write_text(path, text.encode(errors="backslashreplace").decode())
            return path
    number, name = tempfile.mkstemp(prefix="hopfield-", suffix=".log")
    with open(number, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return Path(name)


def _outcome(action: Callable[[], int]) -> int:
    try:
        code = action()
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever read our output, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as error:
        text = str(error.args[0]) if error.args else ""
        _say(f"interrupted{': ' if text else ''}{text}")
        return getattr(error, "code", 130)
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        if isinstance(error, SystemExit) and frames and frames[-1].filename == argparse.__file__:  # a script's help
            raise
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        known = isinstance(error, InputError | StoppedError)
        text = " ".join(str(error).split())
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            text = f"{error.filename} cannot be used: {error.strerror}"
        elif not known:
            text = f"{one_line(error)}; the traceback is in {write_traceback(error)}"
        _say(f"error: {text}")
        return 2 if isinstance(error, InputError) else 1


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # there may be nobody to tell
        terminal.say(text)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


@contextlib.contextmanager
def _reopen_closed_streams() -> Iterator[None]:
    """Reopens closed standard streams on /dev/null, so that no result file gets their descriptors."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free
    with contextlib.ExitStack() as stack:
        for name, redirected in (("stdout", contextlib.redirect_stdout), ("stderr", contextlib.redirect_stderr)):
            if getattr(sys, name) is None:
                stack.enter_context(redirected(stack.enter_context(open(os.devnull, "w", encoding="utf-8"))))
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # one of ASCII alone, say
                stream.reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")
        yield


@contextlib.contextmanager
def _interruptible(final: bool) -> Iterator[None]:
    """The first signal raises Interrupted, the second ends the process, even in the midst of a compiled program."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read, write = os.pipe()
    os.set_blocking(write, False)
    told = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    threading.Thread(target=_end_at_the_second, args=(read,), daemon=True).start()
    handled = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    before: dict[int, Any] = {number: signal.signal(number, _interrupt) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if final else handler)
        _asked.clear()
        signal.set_wakeup_fd(told)
        os.close(write)


def _interrupt(number: int, frame: Any) -> None:
    for each in STOPPING:
        if signal.getsignal(each) is _interrupt:
            signal.signal(each, lambda *_: None)  # who tidies up is not interrupted again: the second ends the process
    _asked.append(Interrupted(number))
    raise _asked[0]


def _end_at_the_second(read: int) -> None:
    """Count signals that Python's own C code tells through a pipe even while the main thread is busy."""
    seen = 0
    while heard := os.read(read, 1):
        seen += heard[0] in STOPPING
        if seen > 1:
            _flush()
            os.write(2, b"interrupted: what is measured is kept; the same command goes on from there\n")
            os._exit(128 + heard[0])
    os.close(read)
