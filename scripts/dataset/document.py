"""docs/dataset.md from the schema: python -m scripts.dataset.document > docs/dataset.md"""

import sys
from collections.abc import Iterable

from scripts.dataset.schema import COLUMNS, ENVIRONMENT, LATENCY_COLUMNS, VERSION, Column, log_columns

HEAD = f"""# The dataset

Generated from `scripts/dataset/schema.py` by `python -m scripts.dataset.document`. Schema version {VERSION}.

`results/<campaign>/runs.parquet` has one row for each run, job and direction (read, write, trim, mixed, sync). Units are
in the names; times are in ns, sizes in bytes. Null means unknown: nothing is guessed and nothing missing is a zero. Unit
and meaning are also in each field's metadata. A run that failed or could not be read has one row with a `reason`.
`failed` is judged by evidence: exit code, errors, signals that fio tells of, no I/O, a timed run that was too short, a
prep that did not write the whole device, IOPS x bs that is not the bandwidth (where no option such as bssplit explains it).
`scripts/dataset/read.py` reads files of every version; pandas, DuckDB and polars read them directly.
"""
LATENCIES = """
Only runs whose output has histograms are in it: `output_format: json+` among a campaign's fio options, or imported json+
files. Sums over jobs, directions and samples are exact (add `count` by `low_ns` and `high_ns`). A percentile is known up
to its bucket: the middle is wrong by at most 1/128 of the value; `scripts/fio/bins.py` gives both. fio up to 2.21
measured in us, so its buckets are never narrower than 1 us and are not added to those of later versions.
"""
LOGS = """
## Log files

`logs/<kind>.parquet` has the lines of fio's log files (`write_bw_log` and the like): kinds bw, iops, lat, clat, slat and
clat_hist; clat and slat have the columns of lat. A log of more than 64 MiB has a file of its own, `logs/<kind>-<n>.parquet`:
read `logs/<kind>*.parquet`. fio's logs have no headings and the same number of columns means different things, so the
layout is taken from the options of the job that wrote the file (log_avg_msec, log_window_value, log_max_value, log_offset, log_issue_time,
log_unix_epoch, log_hist_coarseness) and fio's version. A log without a JSON beside it whose job wrote it, one that has
other columns, or one that is stored compressed is refused. A last line that is cut off is left out.
"""
IMPORTS = """
## Results that were not measured here

    snakemake --cores 1 --config campaign=imported input=PATH [name=FOLDER] [mapping=FILE]

PATH is a directory (with everything below it), a pattern such as `'runs/*/fio-*.json'`, a file, a tar or zip archive, or
several of them separated by commas. The rows go to `results/<name>/runs.parquet` (`imported` without `name=`), and tables
and pictures are made as for any campaign. Every file gets a row: `ok`, `failed` (fio ran, the result must not count)
or `refused` with the reason. Hidden files and links in directories are left alone. Archives are read as streams, never
extracted; one with links, devices, paths that lead out of it or far too much content is refused as a whole, and an
archive in an archive is not opened. Single files may be compressed with gzip, bzip2 or xz.

`source` is the path as given, followed by `!member` for a member of an archive.

Axes are the job options that differ: job over global over fio's own default (null where fio wrote no options, as before
2.3, or only those of one job of a mixed group). With several directories the first part of
the path is the variant (of several inputs: below what they have in common). A mapping (`mapping:` in a campaign file that has no variants, or a YAML file of its own) says
more, where names carry meaning:

    path: (?P<variant>[^/]+)/boot(?P<boot>\\d+)/qd(?P<depth>\\d+)-(?P<sample>\\d+)\\.json
    job: (?P<filesystem>ext4|xfs)
    variant: ioengine        # an axis that is the variant
    axes: [size]             # job options that are axes besides the usual ones
    clock: hardware          # unknown otherwise

Named groups are axes, except `variant`, `sample`, `boot` and `host`. Without `boot`, samples are never taken for
independent boots, and no verdict is given. Jobs of one file that have the same axes and ran in the same group are one
run, whose rates add up; jobs that differ are runs of their own.
"""


def section(title: str, columns: Iterable[Column]) -> str:
    """One table of columns."""
    lines = [f"\n## {title}\n", "| column | type | unit | meaning |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| `{c.name}` | {c.type} | {c.unit} | {c.meaning} |" for c in columns)]) + "\n"


def logs() -> str:
    """The sections of log files."""
    parts = [LOGS, *(section(f"logs/{kind}.parquet", log_columns(kind)) for kind in ("bw", "iops", "lat", "clat_hist"))]
    return "".join(parts)


def text() -> str:
    """The whole file."""
    facts = [
        Column(field.name, field.type, "", field.metadata[b"meaning"].decode().replace("|", "\\|"))
        for field in ENVIRONMENT
    ]
    return (
        HEAD
        + section("runs.parquet", COLUMNS)
        + section("latency.parquet", LATENCY_COLUMNS)
        + LATENCIES
        + section("environment.parquet", facts)
        + IMPORTS
    )


if __name__ == "__main__":
    sys.stdout.write(text())
