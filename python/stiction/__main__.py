"""The command `stiction`: `python -m stiction` and the console script are the same program."""

import signal
import sys

from stiction import _native


def main() -> int:
    """Runs the command with the arguments of this process; returns the exit status."""
    # The interpreter does not handle signals while native code runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["stiction", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
