"""Who owns the keeper: this Snakemake process, or the one above it that already does."""

import os

from scripts.keeper import process, runtime


def claim(main: bool) -> str:
    """Put BLK_OWNER and BLK_KEEPER_SOCKET into the environment that shell jobs inherit; the owner's identity.

    A child that Snakemake starts for a job keeps its parent's owner. A step on a cluster node inherits the submitter's
    variables too, but the submitter is no ancestor of it: there the step's own Snakemake is the owner.
    """
    inherited = os.environ.get("BLK_OWNER", "")
    if main or not process.is_live_ancestor(inherited):
        os.environ["BLK_OWNER"] = process.identity(os.getpid())
    pid, start, _ = os.environ["BLK_OWNER"].split(":")
    os.environ["BLK_KEEPER_SOCKET"] = str(runtime.directory() / f"{pid}-{start}")
    return os.environ["BLK_OWNER"]
