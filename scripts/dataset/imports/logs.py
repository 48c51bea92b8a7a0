"""Log files of an import: each beside the JSON whose job wrote it, or refused."""

from pathlib import Path

from scripts.dataset.imports.batch import Group, ImportBatch
from scripts.dataset.imports.sources import File
from scripts.dataset.logs import LogSet
from scripts.fio.decode import Decoded, Refused
from scripts.fio.job_options import options_for
from scripts.fio.logs import OPTION, layout_of, log_name, prefixes, writer_of
from scripts.fio.rows import jobs_of
from scripts.fio.version import parse_version

Writers = dict[tuple[str, str, str], list[tuple[Decoded, Group]]]
"""(folder, fio's option, prefix) -> documents with a job that wrote logs of this name, and the run of that job."""


def write_imported(batch: ImportBatch, directory: Path) -> int:
    """Write logs/ of an import, after `batch.plan()` named the runs; the number of logs in it.

    A log that can not be read is a refused file like any other.
    """
    writers = writers_in(batch)
    with LogSet(directory) as logs:
        for file in batch.logs:
            try:
                add(logs, file, writers)
            except Refused as error:
                batch.refuse(file.source, str(error))
            except OSError as error:
                batch.refuse(file.source, f"can not be read: {error.strerror}")
    return logs.count


def writers_in(batch: ImportBatch) -> Writers:
    """Who wrote which logs: looked up once, since an import can have thousands of both."""
    found: Writers = {}
    for document, decoded, groups in batch.documents:
        folder = document.rpartition("/")[0]
        here: dict[tuple[str, str, str], Group] = {}
        for index, job in enumerate(jobs_of(decoded.document)):
            if index in groups:
                for option, prefix in prefixes(options_for(decoded.document, job)[0], job.jobname):
                    here.setdefault((folder, option, prefix), groups[index])
        for key, group in here.items():
            found.setdefault(key, []).append((decoded, group))
    return found


def add(logs: LogSet, file: File, writers: Writers) -> None:
    """One log file.

    Raises:
        Refused: no JSON beside it has a job that wrote it, several have, or it is not what that job's options say.
    """
    name = log_name(file.name)
    assert name
    found = writers.get((file.name.rpartition("/")[0], OPTION[name.kind], name.prefix), [])
    if not found:
        text = f"no JSON of fio beside it has a job that wrote {name.prefix}_{name.kind}, so its columns are unknown"
        raise Refused(f"a log file of fio, but {text}")
    if len(found) > 1:
        raise Refused(f"a log file of fio, and {len(found)} JSON files beside it have a job that wrote {name.prefix}")
    decoded, group = found[0]
    document = decoded.document
    options = writer_of(name, [(job.jobname, options_for(document, job)[0]) for job in jobs_of(document)])
    with file.open() as data:
        layout = layout_of(name, options or {}, parse_version(document.version))
        said = logs.add(group.run, file.source, name, layout, data)
    for row in group.rows if said else ():
        row["warnings"] = [*row["warnings"], *(f"log {file.source}: {text}" for text in said)]
