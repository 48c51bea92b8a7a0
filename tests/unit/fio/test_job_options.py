"""Options are a job's own, or nobody's: a group of several jobs has those of its last one in fio's output."""

import pytest

from scripts.fio.decode import decode
from scripts.fio.evidence import requested_of, row_problem
from scripts.fio.rows import rows_of
from tests.fio_output import direction, output


def rows(options, global_options=None, version="fio-3.33", **parts):
    entry = {"jobname": "a", "groupid": 0, "error": 0, "job options": options, **parts}
    return list(
        rows_of(
            decode(output(entry, version=version, **({"global options": global_options} if global_options else {})))
        )
    )


READ, WRITE = direction(iops=1000.0), direction(iops=1000.0)  # of 4096 bytes, for 1000 ms


@pytest.mark.parametrize(
    ("options", "parts", "said"),
    [
        ({"name": "b", "rw": "randread"}, {"read": READ}, "(a .. b)"),
        ({"rw": "randwrite"}, {"read": READ, "write": WRITE}, "rw would only write"),
        ({"iodepth": "4"}, {"write": WRITE}, "rw would only read"),
        ({"rw": "randread", "bs": "4k"}, {"read": READ, "job_runtime": 3000}, "3 threads ran, numjobs is 1"),
        ({"rw": "randread", "numjobs": "2"}, {"read": READ, "job_runtime": 5000}, "5 threads ran, numjobs is 2"),
        ({"rw": "randread", "bs": "64k"}, {"read": READ}, "I/Os were not of 65536 bytes"),
    ],
)
def test_a_group_of_several_jobs_has_no_options(options, parts, said):
    for row in rows(options, {"bs": "8k", "iodepth": "32"} if "bs" not in options else None, **parts):
        assert row["options"] == {} and row["options_unknown"]
        assert any(said in w and "options of the last job only" in w for w in row["warnings"])
        assert not row_problem(row, requested_of(row["options"]))  # not judged by what another job was asked


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"name": "a", "rw": "randread"}, {"read": READ, "job_runtime": 1004}),
        ({"rw": "randrw", "bs": "4k"}, {"read": READ, "write": WRITE, "job_runtime": 1004}),
        ({"rw": "randread", "numjobs": "8", "group_reporting": ""}, {"read": READ, "job_runtime": 8000}),
        ({"rw": "randread", "numjobs": "8"}, {"read": READ, "job_runtime": 1000}),
        ({"rw": "write", "verify": "crc32c"}, {"read": READ, "write": WRITE, "job_runtime": 2000}),
        ({"rw": "randread", "bssplit": "4k/50:64k/50", "bs": "64k"}, {"read": READ}),
        ({"rw": "trimwrite"}, {"trim": READ, "write": WRITE}),
        ({"read_iolog": "x"}, {"write": WRITE}),
        ({"rw": "randread", "numjobs": "many"}, {"read": READ, "job_runtime": 9000}),
        ({"rw": "randread"}, {"read": {**READ, "runtime": 3}, "job_runtime": 9}),
    ],
)
def test_one_job_and_its_clones_keep_their_options(options, parts):
    for row in rows(options, **parts):
        assert row["options"] == options and not row["options_unknown"] and not row["warnings"]


def test_figures_of_one_job_that_contradict_its_options_do_not_count():
    (row,) = rows({"rw": "randread", "bs": "64k"}, read=READ, job_runtime=1000)
    assert row["options"]["bs"] == "64k"
    assert "IOPS x bs" in row_problem(row, requested_of(row["options"]))
