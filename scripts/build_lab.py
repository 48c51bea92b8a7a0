"""Build the lab (the guest's parts) that config/lab.lock.json describes; nothing to do when it is there.

python -m scripts.build_lab [--update] [--retry] [--without PART ...]
"""

import argparse
import sys
from pathlib import Path

from scripts.lab.build import ensure
from scripts.lab.lock import LockError
from scripts.lab.recipe import MODULES
from scripts.lab.run import BuildError, say
from scripts.lab.update import update

REPOSITORY = Path(__file__).resolve().parents[1]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="resolve versions anew and write the lock file")
    parser.add_argument("--retry", action="store_true", help="try again what could not be built")
    parts = [*MODULES, "rublk"]
    parser.add_argument("--without", action="append", default=[], choices=parts, help="leave a part out")
    arguments = parser.parse_args()
    try:
        if arguments.update:
            say("lab: " + update(REPOSITORY))
            return 0
        state = ensure(REPOSITORY, frozenset(arguments.without), arguments.retry)
    except (BuildError, LockError) as error:
        say(f"lab: {error.with_log() if isinstance(error, BuildError) else error}")
        return 1
    for reason in state.unavailable.values():
        say(f"lab: {reason} (`make lab` tries again)")
    say(f"lab: ready ({state.path})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
