"""How well a cell repeats under the instructions clock while both processors of this machine are busy.

python benchmarks/repeatability.py [SAMPLES] [round | campaign]     default 8 round: every sample in a boot of its own
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from benchmarks.command import snakemake

DOCUMENT = {
    "title": "repeatability",
    "host": "guest",
    "clock": "instructions",
    "prep": False,
    "baseline": "null_blk",
    "variants": {
        "null_blk": {"driver": "null_blk", "device": {"memory_backed": True}},
        "rnull": {"driver": "rnull"},
    },
    "device": {"size": "1g", "block_size": 512, "scheduler": "none"},
    "fio": {"runtime": "1s", "time_based": True, "direct": True, "rw": "randread", "bs": "4k", "ioengine": "psync"},
    "workloads": {"only": {}},
}


def measure(work: Path, samples: int, boots: str, busy: bool = True) -> dict[str, list[float]]:
    """IOPS of every sample by variant."""
    (work / "repeat.yaml").write_text(json.dumps({**DOCUMENT, "repeats": samples, "boots": boots}))
    command = snakemake(work / "repeat.yaml")
    burners = []
    if busy:
        burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        done = subprocess.run(
            command,
            cwd=work,
            env={**os.environ, "BLK_HOST_DIR": str(work)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    if done.returncode:
        raise RuntimeError(done.stdout[-3000:])
    found: dict[str, list[float]] = {}
    for path in sorted((work / "results" / "runs").glob("*/fio.json")):
        iops = json.loads(path.read_text())["jobs"][0]["read"]["iops"]
        found.setdefault("rnull" if "rnull" in path.parent.name else "null_blk", []).append(iops)
    return found


def variation_percent(values: list[float]) -> float:
    """Coefficient of variation."""
    return np.std(values, ddof=1) / np.mean(values) * 100


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    boots = sys.argv[2] if len(sys.argv) > 2 else "round"
    work = Path(tempfile.mkdtemp(prefix="blk-repeat-"))
    try:
        for name, values in measure(work, samples, boots).items():
            print(
                f"{name}: n = {len(values)}, {np.mean(values):.0f} IOPS, coefficient of variation "
                f"{variation_percent(values):.2f} %, a boot a {boots}"
            )
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
