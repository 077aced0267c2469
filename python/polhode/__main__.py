"""The command line: ``python -m polhode``."""

import os
import sys

from polhode.cli.commands import main

#: The exit code that a shell reports for a program ended by SIGPIPE.
BROKEN_PIPE = 141


def run() -> int:
    """Run the command line; exit without a traceback if the reader of its output has closed it."""
    try:
        try:
            return main()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


if __name__ == "__main__":
    sys.exit(run())
