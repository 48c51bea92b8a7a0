"""json+ histograms and log files -> Parquet, beside msgspec's typed decode and DuckDB's COPY.

python benchmarks/latency.py [FILES] [LINES]     default 1000 20000000; prints seconds, peak MB and ratios

Histograms: files of about 40 KB, decoded with their bins by msgspec alone, and made into latency.parquet by us.
Log: one file of 26 bytes a line, by DuckDB's COPY to Parquet (snappy, all columns typed), and by us.
Each line of output is a process of its own, without the time it takes to start and import.
"""

import json
import random
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from benchmarks.parse import document, timed
from scripts.fio.bins import edges

SETUP = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
END = "\nimport os; os._exit(0)\n"
"""As our own processes end: nothing is taken apart."""
TYPED = """
import glob, msgspec
from scripts.fio.histograms import PLAIN, raw_of
from scripts.fio.document import DECODER
"""
TYPED_RUN = """
for path in sorted(glob.glob(sys.argv[1])):
    for job in DECODER.decode(open(path, 'rb').read()).jobs:
        for part in (job.read, job.write):
            for _, raw, _ in raw_of(part):
                PLAIN.decode(raw)
"""
OURS = """
import gc, glob
from pathlib import Path
from scripts.dataset.latency import Latencies
from scripts.dataset.process import WithoutPandas
from scripts.dataset.write import write_tables
from scripts.dataset.schema import LATENCY
from scripts.fio.histograms import bins_of
from scripts.fio.decode import decode
sys.meta_path.insert(0, WithoutPandas); gc.disable()
"""
OURS_RUN = """
latencies = Latencies()
for path in sorted(glob.glob(sys.argv[1])):
    for bins in bins_of(decode(open(path, 'rb').read())):
        latencies.add(path, path, bins, print)
write_tables(latencies.tables(), LATENCY, Path(sys.argv[2]))
"""
DUCK = "import duckdb\n"
DUCK_RUN = """
columns = {'time_ms': 'BIGINT', 'value': 'BIGINT', 'direction': 'TINYINT', 'bs_bytes': 'BIGINT', 'prio': 'BIGINT'}
duckdb.execute(f"COPY (SELECT * FROM read_csv('{sys.argv[1]}', header=false, columns={columns})) TO '{sys.argv[2]}'")
"""
LOG = """
from pathlib import Path
from scripts.dataset.logs import LogSet
from scripts.dataset.process import WithoutPandas
from scripts.fio.logs import layout_of, log_name
sys.meta_path.insert(0, WithoutPandas)
"""
LOG_RUN = """
name = log_name(sys.argv[1])
with LogSet(Path(sys.argv[2])) as logs:
    logs.add('run', sys.argv[1], name, layout_of(name, {}, (3, 41)), open(sys.argv[1], 'rb'))
"""


def histograms(work: Path, count: int) -> None:
    """Files with bins, as `--output-format=json+` writes them: fio has 64 buckets to a power of two, no more."""
    rng = np.random.default_rng(1)
    total = 0
    for number in range(count):
        content = json.loads(document(random.Random(number)))
        for direction in ("read", "write"):
            samples = rng.lognormal(rng.uniform(8, 11), 1.5, 60_000).astype(np.int64)
            low, high = edges(samples)
            middles, counts = np.unique((low + high) // 2, return_counts=True)
            bins = {str(value): int(n) for value, n in zip(middles, counts, strict=True)}
            content["jobs"][0][direction]["clat_ns"] = {"N": len(samples), "mean": 1.0, "bins": bins}
        data = json.dumps(content, indent=2).encode()
        total += len(data)
        (work / f"{number:04}.json").write_bytes(data)
    print(f"{count} json+ files, {total / 1e6:.0f} MB, the last one with {len(bins)} buckets")


def log(path: Path, lines: int) -> None:
    """A latency log of fio 3.41 without windows."""
    rng = random.Random(1)
    block = "".join(
        f"{i}, {rng.randrange(10**4, 10**6)}, {rng.randrange(2)}, 4096, 0\n" for i in range(100_000, 200_000)
    ).encode()
    with path.open("wb") as file:
        for _ in range(max(lines // 100_000, 1)):
            file.write(block)
    print(f"a log of {lines} lines, {path.stat().st_size / 1e6:.0f} MB")


def compared(names: tuple[str, str], scripts: list[tuple[str, str, list[str]]]) -> None:
    """Two programs, the first is the baseline."""
    baseline = None
    for name, (setup, run, arguments) in zip(names, scripts, strict=True):
        idle, _ = timed([sys.executable, "-c", SETUP + setup + END, *arguments])
        wall, peak = timed([sys.executable, "-c", SETUP + setup + run + END, *arguments])
        own = wall - idle
        baseline = baseline or own
        print(f"{name:34} {own:7.3f} s  {peak:5} MB  {own / baseline:5.2f} x", flush=True)


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    lines = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000_000
    work = Path(tempfile.mkdtemp(prefix="blk-latency-"))
    try:
        histograms(work, files)
        pattern = f"{work}/*.json"
        compared(
            ("msgspec typed decode with bins", "ours, to latency.parquet"),
            [(TYPED, TYPED_RUN, [pattern]), (OURS, OURS_RUN, [pattern, f"{work}/latency.parquet"])],
        )
        path = work / "x_clat.1.log"
        log(path, lines)
        compared(
            ("DuckDB COPY", "ours, to logs/clat-1.parquet"),
            [(DUCK, DUCK_RUN, [str(path), f"{work}/duck.parquet"]), (LOG, LOG_RUN, [str(path), f"{work}/logs"])],
        )
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
