"""Cures for faults of Snakemake that would spoil a measurement, for the versions they are known to fit.

* The default job rate limiter adds one perpetual 1 Hz timer thread per finished job: a fifth of a core after 400 jobs,
  while fio runs. It can not be switched off by an option.
* A SIGTERM that arrives in the scheduler's own lock hangs for ever; as KeyboardInterrupt it ends like Ctrl-C.
"""

import logging
import signal
from typing import Any

KNOWN = ("9.27.",)
CHATTER = ("Select jobs to execute...", "Execute ")
"""Said twice for every job, whatever `--quiet` is: between them our lines of progress can not be followed."""


def quieten() -> None:
    """No lines of Snakemake's that say nothing."""
    from snakemake.logging import logger

    def telling(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(CHATTER)

    logger.addFilter(telling)


def cure(workflow: Any) -> None:
    """Called by `onstart:`, when the scheduler exists.

    Raises:
        RuntimeError: this Snakemake is not one the cures are known to fit.
    """
    import snakemake

    version = str(snakemake.__version__)
    scheduler = getattr(workflow, "scheduler", None)
    if not version.startswith(KNOWN) or (scheduler is not None and not hasattr(scheduler, "job_rate_limiter")):
        raise RuntimeError(
            f"snakemake {version}: only {', '.join(k + 'x' for k in KNOWN)} is known not to disturb measurements with "
            "the cures of scripts/workflow/quirks.py; install the locked version (make sets it up in .venv)"
        )
    if scheduler is not None:
        scheduler.job_rate_limiter = None
    signal.signal(signal.SIGTERM, signal.default_int_handler)
