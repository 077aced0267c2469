"""The lock of a run: one process or thread at a time continues it."""

from __future__ import annotations

import contextlib
import os
import weakref
from pathlib import Path
from typing import BinaryIO

from polhode.integrators.table import warn_user

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

#: Files that hold a lock. A forked process closes them, so that the lock is not its own.
_locks: weakref.WeakSet[BinaryIO] = weakref.WeakSet()


def _close_locks() -> None:
    for file in list(_locks):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_locks)


def lock(file: BinaryIO, path: Path) -> bool:
    """Lock the open run.json of a run, or close it and raise an error.

    False, with a warning: the file system has no locks.
    """
    try:
        if fcntl is None:
            raise OSError("Windows has no flock")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _locks.add(file)
    except BlockingIOError as error:
        file.close()
        text = "another process or thread is integrating the run in this directory"
        raise BlockingIOError(error.errno, text, str(path.parent)) from None
    except OSError as error:
        warn_user(
            f"the run in {str(path.parent)!r} cannot be locked ({error.strerror or error}): no "
            "other process may integrate it at the same time"
        )
        return False
    return True


def unlock(file: BinaryIO) -> None:
    """Release the lock and close the file, which a forked process may have open too."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
    file.close()
