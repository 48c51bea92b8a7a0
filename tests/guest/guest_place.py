"""Places whose campaigns run in real guests."""

import json
import os
import shutil
from pathlib import Path

from scripts.drivers.registry import SCHEMAS
from tests.place import Place


class GuestPlace(Place):
    """A working directory whose campaign runs in a guest of this checkout's lab."""

    def __init__(self, root, **campaign):
        self.document = {
            "title": "a guest",
            "host": "guest",
            "clock": "emulated",
            "boots": "campaign",
            "prep": False,
            "fio": {"runtime": "4s", "time_based": True, "rw": "randread", "direct": True},
            "repeats": 1,
            "tables": {"guest": {"layout": "benchstat"}},
            **campaign,
        }
        super().__init__(root)
        drivers = root / "drivers"
        drivers.mkdir()
        shutil.copy(Path(__file__).parent / "faulty" / "faulty.py", drivers)
        shutil.copy(SCHEMAS / "ublk.schema.json", drivers / "faulty.schema.json")
        self.faults = root / "faults"
        self.faults.write_text("")
        self.environment |= {"BLK_DRIVER_PATH": str(drivers), "BLK_TEST_FAULTS": str(self.faults)}
        del self.environment["BLK_FIO"]

    def campaign(self, **changes):
        self.document |= changes
        (self.work / "fake.yaml").write_text(json.dumps(self.document))

    def qemu(self):
        """Process ids of this place's QEMU."""
        found = []
        for pid in os.listdir("/proc"):
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes()
                environment = Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if b"qemu-system" in line.split(b"\0")[0] and f"BLK_HOST_DIR={self.host}".encode() in environment:
                found.append(int(pid))
        return found

    def failures(self):
        """{run: reason} of every failed attempt."""
        records = [json.loads(path.read_text()) for path in (self.work / "results/failed").glob("*/*/run.json")]
        return {record["run"]: record["reason"] for record in records}
