"""Log files of an import: each beside the JSON whose job wrote it, or refused."""

from pathlib import Path

from scripts.dataset.imports.batch import Group, ImportBatch
from scripts.dataset.imports.sources import File
from scripts.dataset.logs import LogSet
from scripts.fio.decode import Decoded, Refused
from scripts.fio.logs import LogName, layout_of, log_name, writer_of
from scripts.fio.rows import jobs_of, options_for
from scripts.fio.version import parse_version


def write_imported(batch: ImportBatch, directory: Path) -> int:
    """Write logs/ of an import, after `batch.plan()` named the runs; the number of logs in it.

    A log that can not be read is a refused file like any other.
    """
    logs = LogSet(directory)
    for file in batch.logs:
        name = log_name(file.name)
        assert name
        try:
            decoded, run = owner_of(batch, file, name)
            options = writer_of(name, [(job.jobname, options_for(decoded.document, job)[0])
                                       for job in jobs_of(decoded.document)])  # fmt: skip
            with file.open() as data:
                layout = layout_of(name, options or {}, parse_version(decoded.document.version))
                said = logs.add(run.run, file.source, name, layout, data)
            for row in run.rows if said else ():
                row["warnings"] = [*row["warnings"], *(f"log {file.source}: {text}" for text in said)]
        except Refused as error:
            batch.refuse(file.source, str(error))
        except OSError as error:
            batch.refuse(file.source, f"can not be read: {error.strerror}")
    logs.close()
    return logs.count


def owner_of(batch: ImportBatch, file: File, name: LogName) -> tuple[Decoded, Group]:
    """The document whose job wrote a log, and the run of that job.

    Raises:
        Refused: none did, or several.
    """
    folder = file.name.rpartition("/")[0]
    found: list[tuple[Decoded, Group]] = []
    for document, decoded, groups in batch.documents:
        if document.rpartition("/")[0] != folder:
            continue
        for index, job in enumerate(jobs_of(decoded.document)):
            if index in groups and writer_of(name, [(job.jobname, options_for(decoded.document, job)[0])]) is not None:
                found.append((decoded, groups[index]))
                break
    if not found:
        text = f"no JSON of fio beside it has a job that wrote {name.prefix}_{name.kind}, so its columns are unknown"
        raise Refused(f"a log file of fio, but {text}")
    if len(found) > 1:
        raise Refused(f"a log file of fio, and {len(found)} JSON files beside it have a job that wrote {name.prefix}")
    return found[0]
