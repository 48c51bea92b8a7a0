"""fio output for tests: one small document, with whatever is to be different."""

import json

CLAT = {
    "min": 100,
    "max": 900,
    "mean": 500.5,
    "stddev": 1.5,
    "N": 1000,
    "percentile": {"50.000000": 480, "99.000000": 890},
}


def direction(iops=1000.0, bs=4096, runtime_ms=1000, **changes):
    total = int(iops * runtime_ms / 1000)
    figures = {"total_ios": total, "io_bytes": total * bs, "iops": iops, "bw": int(iops * bs / 1024)}
    return {**figures, "bw_bytes": int(iops * bs), "runtime": runtime_ms, "clat_ns": CLAT, **changes}


def job(name="j", iops=1000.0, options=None, **changes):
    named = {"name": name, "rw": "randread", "bs": "4k", "iodepth": "1", "ioengine": "psync", **(options or {})}
    return {"jobname": name, "groupid": 0, "error": 0, "job options": named, "read": direction(iops), **changes}


def output(*jobs, version="fio-3.39", **changes):
    """One document as bytes."""
    return json.dumps({"fio version": version, "timestamp": 1, "jobs": list(jobs) or [job()], **changes}).encode()
