"""Generated fio output: documents of every version's shape, and what surrounds and damages them."""

import json

from hypothesis import strategies as st

PERCENTILES = ("1.000000", "50.000000", "99.000000", "99.900000", "100.000000")
COUNT = st.integers(0, 2**50)
RATE = st.floats(0, 1e9, allow_nan=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
OPTIONS = st.sampled_from(
    ["rw", "bs", "iodepth", "numjobs", "filename", "group_reporting", "name", "runtime", "time_based", "size", "direct",
     "buffered", "bssplit", "rate", "lat_percentiles"]
)  # fmt: skip
VALUES = st.one_of(
    TEXT,
    st.sampled_from(["4k", "64KiB", "randrw", "8", "10s", "1", "", "4k,8k", "1h", "0x10", "9" * 400, "1" * 30 + "h"]),
    st.none() | st.integers(-5, 2**70) | st.booleans() | st.lists(TEXT, max_size=2),
)
VERSIONS = ("fio-2.1.4", "fio-2.20", "fio-2.21", "fio-3.1", "fio-3.7", "fio-3.28", "fio-3.41", "fio-3.41-12-gabc", "")


@st.composite
def latencies(draw, old):
    count = draw(st.integers(0, 10**9))
    if count == 0:
        empty = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0}
        return empty if old else {**empty, "N": 0}
    low = draw(st.integers(1, 10**6))
    found = {"min": low, "max": low * 9, "mean": low * 2.5, "stddev": 1.5}
    if not old:
        found["N"] = count
    if draw(st.booleans()):
        found["percentile"] = {key: draw(st.integers(1, 10**10)) for key in PERCENTILES}
    return found


@st.composite
def directions(draw, version):
    old = version.startswith("fio-2")
    found = {"io_bytes": draw(COUNT), "bw": draw(st.integers(0, 2**40)), "iops": draw(RATE), "runtime": draw(COUNT)}
    if version > "fio-2.20":
        found["io_kbytes"] = found["io_bytes"] // 1024
    if not old:
        found["bw_bytes"] = draw(COUNT)
    if version != "fio-2.1.4":
        found["total_ios"] = draw(COUNT)
    suffix = "" if old else "_ns"
    for name in ("slat", "clat", "lat"):
        if draw(st.booleans()):
            found[name + suffix] = draw(latencies(old))
    absent = draw(st.sets(st.sampled_from(sorted(found))))
    return {key: value for key, value in found.items() if key not in absent}


@st.composite
def jobs(draw, version):
    found = {
        "jobname": draw(TEXT),
        "groupid": draw(st.integers(0, 3)),
        "error": draw(st.sampled_from([0, 0, 0, 5, 28])),
    }
    for name in ("usr_cpu", "sys_cpu"):
        if draw(st.booleans()):
            found[name] = draw(st.floats(0, 100))
    if draw(st.booleans()):
        found["job options"] = draw(st.dictionaries(OPTIONS, VALUES, max_size=6))
    for name in draw(st.sets(st.sampled_from(["read", "write", "trim", "mixed"]))):
        found[name] = draw(directions(version))
    if draw(st.booleans()):
        found["sync"] = {"total_ios": 0, "lat_ns": draw(latencies(False))}
    return found


@st.composite
def documents(draw):
    version = draw(st.sampled_from(VERSIONS))
    found = {"fio version": version} if version else {}
    entries = draw(st.lists(jobs(version), min_size=1, max_size=3))
    if draw(st.integers(0, 4)) == 0:
        entries = [{**entry, "hostname": "h", "port": 8765} for entry in entries]
        return {
            **found,
            "client_stats": [*entries, {"jobname": "All clients", **draw(jobs(version)), "job options": None}],
        }
    if draw(st.booleans()):
        found["global options"] = draw(st.dictionaries(st.sampled_from(["bs", "iodepth", "direct"]), TEXT))
    return {**found, "jobs": entries}


WRAPPINGS = {
    "plain": lambda data: data,
    "byte-order mark": lambda data: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "prefix": lambda data: b"fio: pid=3, err=5/file:x.c:1, func=y\nhostname=h, be=0\n" + data,
    "prefix with a brace": lambda data: b"note {not json\n" + data,
    "tail": lambda data: data + b"\n\nRun status group 0 (all jobs):\n",
    "two documents": lambda data: b'{"fio version": "fio-3.1", "jobs": []}\n' + data,
}


def written(document, indent=1):
    """As fio writes it, mostly: indented, not escaped."""
    return json.dumps(document, indent=indent, ensure_ascii=False).encode()
