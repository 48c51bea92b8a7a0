"""loop, brd, file and fio's null engine."""

import select

import pytest

from scripts.drivers import brd, file, loop, null
from scripts.hosts.local import LocalHost
from tests.unit.drivers.recorded import PLAIN, described, device, texts

BOUND = {
    **PLAIN,
    "queue/nr_requests": "128\n",
    "loop/backing_file": "/run/blkcampaign-backing/blkcampaign/image\n",
    "loop/dio": "1\n",
    "loop/offset": "0\n",
    "loop/sizelimit": "0\n",
    "hw_queue_depth": "128\n",
}
RAM = {
    "size": "262144\n",
    "queue/logical_block_size": "512\n",
    "queue/zoned": "none\n",
    "queue/nr_zones": "0\n",
    "queue/chunk_sectors": "0\n",
}


def test_loop_order():
    made = texts(loop.create(device("loop", queue_depth=64, direct_io=False, scheduler="mq-deadline")))
    assert made[0] == "absent /sys/block/loop77/loop"
    assert made[-5:] == [
        "exec modprobe loop max_loop=0 hw_queue_depth=64",
        "wait /dev/loop-control",
        "exec losetup --direct-io=off --sector-size 4096 /dev/loop77 /run/blkcampaign-backing/blkcampaign/image",
        "wait /dev/loop77",
        "write /sys/block/loop77/queue/scheduler mq-deadline",
    ]
    assert texts(loop.destroy(device("loop")))[:3] == [
        "exec losetup --detach /dev/loop77",
        "wait_gone /sys/block/loop77/loop",
        "exec modprobe -r loop",
    ]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        ({"loop/dio": "0\n"}, ["direct_io: asked for 1, the device has 0 (/sys/block/loop77/loop/dio)"]),
        ({"queue/nr_requests": "64\n"}, ["queue_depth: asked for 128, the device has 64 (queue/nr_requests)"]),
        (
            {"loop/backing_file": "/home/image\n"},
            [
                "backing: asked for /run/blkcampaign-backing/blkcampaign/image, the device has /home/image"
                " (/sys/block/loop77/loop/backing_file)"
            ],
        ),
    ],
)
def test_loop_compared(changed, expected):
    assert described("loop", device("loop"), {**BOUND, **changed})[0] == expected


def test_brd_has_no_scheduler_and_says_so():
    wrong, description = described("brd", device("brd"), RAM)
    assert wrong == []
    assert description.parameters["scheduler"] == "none"
    assert description.environment["queue/scheduler"] == "none"
    assert texts(brd.create(device("brd")))[:2] == [
        "absent /sys/module/brd",
        "exec modprobe brd rd_nr=1 rd_size=131072",
    ]


def test_brd_block_size_is_compared():
    (wrong,), _ = described("brd", device("brd", block_size="4k"), RAM)
    assert wrong == "block_size_bytes: asked for 4096, the device has 512 (queue/logical_block_size)"


@pytest.mark.parametrize("size", [0, 1000])
def test_brd_counts_in_kib(size):
    assert brd.check(device("brd", size=size)) == [f"size = {size}: brd takes whole KiB, at least one"]


def test_null_engine():
    requested = device("null", size="1m")
    assert null.fio_options(requested) == {"ioengine": "null", "size_bytes": 1 << 20}
    assert null.create(requested) == null.destroy(requested) == null.gone(requested) == []


def test_file_takes_absolute_directories_only():
    assert file.check(device("file", directory="here")) == ["directory = 'here': must be an absolute path"]
    assert file.check(device("file")) == []


def test_a_files_whole_life_on_this_machine(tmp_path):
    (tmp_path / "mine").write_text("stays")
    requested = device("file", size="1m", directory=str(tmp_path))
    host = LocalHost("test-mark")

    def wait(fds, timeout_s):
        return select.select(list(fds), [], [], timeout_s)[0]

    def step(operations):
        results = host.request(operations, "s1", 20, wait)
        assert len(results) == len(operations)
        return results

    host.start(wait)
    try:
        assert all(r["ok"] for r in step(file.create(requested)))
        readings = {r["label"]: r["output"] for r in step(file.readback(requested))}
        assert file.describe(requested, readings).mismatches == []
        other = {**requested, "size_bytes": 2 << 20}
        assert [str(m) for m in file.describe(other, readings).mismatches] == [
            "size_bytes: asked for 2097152, the device has 1048576 (stat)"
        ]
        assert step(file.gone(requested))[-1]["ok"] is False
        for _ in range(2):
            step(file.destroy(requested))
            assert step(file.gone(requested))[-1]["ok"]
    finally:
        host.stop()
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]
