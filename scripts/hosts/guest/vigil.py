"""Ends a guest whose keeper was killed: waits for the end of a pipe, then kills everything with the keeper's mark.

    vigil.py PIPE_FD BLK_KEEPER=<mark> DIRECTORY

The guest's own agent powers off as well; this one also ends a guest that hangs.
"""

import os
import shutil
import sys
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parents[3])

from scripts.keeper.process import kill_marked


def main() -> None:
    """See the module's text."""
    pipe, mark, directory = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    while os.read(pipe, 1):
        pass
    kill_marked(mark)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
