"""json+ histograms and log files -> Parquet, beside msgspec's typed decode and DuckDB's COPY.

python benchmarks/latency.py [FILES] [LINES]     default 50 20000000; prints seconds, peak MB and ratios

Histograms: files of about 0.7 MB, decoded with their bins by msgspec alone, and made into latency.parquet by us.
Log: one file of 26 bytes a line, by DuckDB's COPY to Parquet (snappy, all columns typed), and by us.
Each line of output is a process of its own, without the time it takes to start and import.
"""

import json
import random
import shutil
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from benchmarks.parse import document, timed

SETUP = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
TYPED = """
import glob, msgspec
from scripts.fio.bins import PLAIN, raw_of
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
from scripts.dataset.latency import Buckets
from scripts.dataset.write import WithoutPandas, write_tables
from scripts.dataset.schema import LATENCY
from scripts.fio.bins import histograms_of
from scripts.fio.decode import decode
sys.meta_path.insert(0, WithoutPandas); gc.disable()
"""
OURS_RUN = """
buckets = Buckets()
for path in sorted(glob.glob(sys.argv[1])):
    for histogram in histograms_of(decode(open(path, 'rb').read())):
        buckets.add(path, path, histogram)
write_tables(buckets.tables(), LATENCY, Path(sys.argv[2]))
"""
DUCK = "import duckdb\n"
DUCK_RUN = """
columns = {'time_ms': 'BIGINT', 'value': 'BIGINT', 'direction': 'TINYINT', 'bs_bytes': 'BIGINT', 'prio': 'BIGINT'}
duckdb.execute(f"COPY (SELECT * FROM read_csv('{sys.argv[1]}', header=false, columns={columns})) TO '{sys.argv[2]}'")
"""
LOG = """
from pathlib import Path
from scripts.dataset.logs import LogSet
from scripts.dataset.write import WithoutPandas
from scripts.fio.logs import layout_of, log_name
sys.meta_path.insert(0, WithoutPandas)
"""
LOG_RUN = """
name = log_name(sys.argv[1])
with LogSet(Path(sys.argv[2])) as logs:
    logs.add('run', sys.argv[1], name, layout_of(name, {}, (3, 41)), open(sys.argv[1], 'rb'))
"""


def histograms(work: Path, count: int) -> None:
    """Files with bins, as `--output-format=json+` writes them."""
    rng = random.Random(1)
    total = 0
    for number in range(count):
        content = json.loads(document(rng))
        for direction in ("read", "write"):
            middles = sorted({int(rng.lognormvariate(11, 1.5)) * 2 for _ in range(16000)})
            bins = {str(value): rng.randrange(1, 1000) for value in middles}
            content["jobs"][0][direction]["clat_ns"] = {"N": sum(bins.values()), "mean": 1.0, "bins": bins}
        data = json.dumps(content, indent=2).encode()
        total += len(data)
        (work / f"{number:03}.json").write_bytes(data)
    print(f"{count} json+ files, {total / 1e6:.0f} MB")


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
        idle, _ = timed([sys.executable, "-c", SETUP + setup, *arguments])
        wall, peak = timed([sys.executable, "-c", SETUP + setup + run, *arguments])
        own = wall - idle
        baseline = baseline or own
        print(f"{name:34} {own:7.3f} s  {peak:5} MB  {own / baseline:5.2f} x", flush=True)


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 50
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
