"""Run directories of a campaign -> runs.parquet, latency.parquet, environment.parquet and logs/.

python -m scripts.parse_runs --work DIRECTORY --campaign NAME
"""

import argparse
import json
import sys
from pathlib import Path

from scripts.dataset.digest import digest_of, sizes
from scripts.dataset.logs import LogSet
from scripts.dataset.process import run
from scripts.dataset.runs import Batch
from scripts.dataset.schema import ENVIRONMENT, LATENCY, SCHEMA
from scripts.dataset.write import table_of, write_table, write_tables
from scripts.keeper.results import as_json, write_whole


def parse(work: Path, campaign: str) -> dict[str, int]:
    """Parse a campaign; counts by status.

    Raises:
        OSError: there is no plan, or the results can not be written.
    """
    directory = work / "results" / campaign
    plan_bytes = (directory / "plan.json").read_bytes()
    batch = Batch(work, json.loads(plan_bytes))
    batch.read()
    write_table(table_of(batch.environment_columns(), ENVIRONMENT), directory / "environment.parquet")
    with LogSet(directory / "logs") as logs:
        batch.write_logs(logs)
    write_tables(batch.latencies.tables(), LATENCY, directory / "latency.parquet")
    write_table(table_of(batch.rows, SCHEMA), directory / "runs.parquet")
    record = {"format": 1, "digest": digest_of(plan_bytes, batch.unloads), "counts": batch.counts}
    record["sizes"] = sizes(directory)
    write_whole(directory / "parsed.json", as_json(record))
    for reason, count in sorted(batch.reasons.items(), key=lambda item: -item[1])[:20]:
        sys.stderr.write(f"blkcampaign: {count} x {reason}\n")
    return batch.counts


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="directory that has results/")
    parser.add_argument("--campaign", required=True, help="folder under results/ with plan.json")
    arguments = parser.parse_args()
    counts = parse(arguments.work, arguments.campaign)
    sys.stderr.write("blkcampaign: runs " + ", ".join(f"{status}: {count}" for status, count in counts.items()) + "\n")
    return 0


if __name__ == "__main__":
    run(main)
