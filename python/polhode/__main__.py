"""The command line: ``python -m polhode``."""

import os
import sys

from polhode._cli import main

#: What a shell says of a program that SIGPIPE has ended.
BROKEN_PIPE = 141


def run() -> int:
    """Run the command line; its end is quiet where nobody reads what it prints."""
    try:
        try:
            return main()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


if __name__ == "__main__":
    sys.exit(run())
