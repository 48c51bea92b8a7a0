"""Foreign fio results -> runs.parquet and plan.json, so that tables, pictures and reports work on them.

python -m scripts.import_results --results results/<name>     reads <results>/input.json
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import msgspec

from scripts.dataset.digest import sizes
from scripts.dataset.imports.batch import ImportBatch
from scripts.dataset.imports.logs import write_imported
from scripts.dataset.imports.mapping import MappingError, Names
from scripts.dataset.imports.sources import NoInput, files_of, paths_of
from scripts.dataset.process import run
from scripts.dataset.schema import ENVIRONMENT, LATENCY, SCHEMA
from scripts.dataset.write import table_of, write_table, write_tables
from scripts.keeper.results import as_json, write_whole

SHOWN_REASONS = 20


def import_results(directory: Path) -> ImportBatch:
    """Import what `<directory>/input.json` names.

    Raises:
        NoInput, MappingError: with what to do. OSError: the results can not be written.
    """
    raw = (directory / "input.json").read_bytes()
    wanted = json.loads(raw)
    batch = ImportBatch(Names(wanted["mapping"]), wanted["settings"], directory.name)
    batch.read(files_of(paths_of(wanted["input"])))
    plan = msgspec.json.format(msgspec.json.encode(batch.plan()), indent=1)
    batch.counts["logs"] = write_imported(batch, directory / "logs")
    write_table(table_of(batch.environment(), ENVIRONMENT), directory / "environment.parquet")
    write_tables(batch.latencies().tables(), LATENCY, directory / "latency.parquet")
    write_table(table_of(batch.rows(), SCHEMA), directory / "runs.parquet")
    write_whole(directory / "plan.json", plan)
    digest = hashlib.sha256(raw + plan).hexdigest()
    record = {"format": 1, "digest": digest, "counts": dict(batch.counts), "sizes": sizes(directory), "plan": len(plan)}
    write_whole(directory / "parsed.json", as_json(record))
    return batch


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="folder under results/ with input.json")
    arguments = parser.parse_args()
    try:
        batch = import_results(arguments.results)
    except (NoInput, MappingError) as error:
        sys.stderr.write(f"blkcampaign: {error}\n")
        return 1
    for reason, count in batch.reasons.most_common(SHOWN_REASONS):
        sys.stderr.write(f"blkcampaign: {count} x {reason}\n")
    if len(batch.reasons) > SHOWN_REASONS:
        sys.stderr.write(f"blkcampaign: and {len(batch.reasons) - SHOWN_REASONS} other reasons; see runs.parquet\n")
    counts = ", ".join(f"{status}: {count}" for status, count in batch.counts.items())
    sys.stderr.write(f"blkcampaign: {batch.counts.total()} files imported; {counts}\n")
    return 0


if __name__ == "__main__":
    run(main)
