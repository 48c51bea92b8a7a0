"""A working directory with a fake driver and a fake fio, and Snakemake as a user starts it."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
FAKE = REPOSITORY / "tests" / "fixtures" / "fake"

CAMPAIGN = {
    "title": "one fake against another",
    "host": "local",
    "boots": "campaign",
    "baseline": "one",
    "variants": {"one": {"driver": "fake"}, "two": {"driver": "fake", "replica": 1}},
    "fio": {"runtime": 1, "time_based": True},
    "workloads": {"small": {"rw": "randread", "bs": "4k"}, "large": {"rw": "randwrite", "bs": "8k"}},
    "repeats": 2,
    "tables": {"fake": {"layout": "iops-bw"}},
    "plots": {"strip": {"kind": "strip"}},  # one is enough: hundreds of campaigns are run
}


class Place:
    """A working directory; `device` is the folder of the fake module, `host` stands for the machine."""

    def __init__(self, root, host=None, device=None):
        self.work = root / "work"
        self.host = host or root / "host"
        self.device = device or root / "device"
        for path in (self.work, self.host, self.device):
            path.mkdir(parents=True, exist_ok=True)
        self.environment = {
            **os.environ,
            "BLK_DRIVER_PATH": str(FAKE),
            "BLK_FIO": str(FAKE / "fio"),
            "BLK_HOST_DIR": str(self.host),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.campaign()

    def campaign(self, **changes):
        document = json.loads(json.dumps({**CAMPAIGN, **changes}))
        document.setdefault("device", {}).setdefault("directory", str(self.device))
        (self.work / "fake.yaml").write_text(json.dumps(document))

    def command(self, *arguments, cores=1, config=()):
        snakemake = str(Path(sys.executable).with_name("snakemake"))
        head = [snakemake, "-s", str(REPOSITORY / "Snakefile"), "--cores", str(cores), *arguments]
        return [*head, "--config", "campaign=fake.yaml", *config]

    def start(self, *arguments, **options):
        return subprocess.Popen(
            self.command(*arguments, **options),
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments, **options):
        process = self.start(*arguments, **options)
        output, _ = process.communicate(timeout=300)
        return process.returncode, output

    def events(self):
        path = self.device / "events"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def forget_events(self):
        (self.device / "events").unlink(missing_ok=True)

    def measured(self):
        return sum(1 for event in self.events() if event[0] == "run-end")

    def complete(self):
        from scripts.keeper.results import complete

        return sorted(p.name for p in (self.work / "results" / "runs").glob("*") if complete(p))


ORDER = ["load", "describe", "prep-begin", "prep-end", "run-begin", "run-end", "unload", "gone"]


def check_order(events, whole=True):
    """One session at a time; each in order; with `whole`, each with all its steps."""
    sessions = {}
    for event in events:
        assert event[0] != "VIOLATION", events
        sessions.setdefault(event[1], []).append(event[0])
    spans = []
    for session, names in sessions.items():
        known = [name for name in ORDER if name in names]
        assert list(dict.fromkeys(names)) == known, (session, names)
        if whole:
            assert known == ORDER, (session, names)
        places = [i for i, event in enumerate(events) if event[1] == session]
        spans.append((places[0], places[-1]))
    spans.sort()
    for (_, end), (begin, _) in itertools.pairwise(spans):
        assert end < begin, events
