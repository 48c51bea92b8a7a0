import pytest

from scripts.drivers import null_blk, rnull
from tests.unit.drivers.recorded import BUILD_ID_NOTE, PLAIN, ZONED, described, device, texts, zones

C = "/sys/kernel/config/nullb/nullb0"
ZONES = {"zone_size": "16m", "zone_capacity": "12m", "conventional_zones": 1, "max_open_zones": 3}


def zoned(**keys):
    return device("null_blk", zoned=True, **{**ZONES, **keys})


def zoned_readings(**changed):
    configfs = {"zone_size": "16\n", "zone_capacity": "12\n", "zone_nr_conv": "1\n", "zone_max_open": "3\n"}
    return {
        **ZONED,
        "queue/max_open_zones": "3\n",
        "zones": zones("c", "s", cap=0x6000),
        **{f"configfs/{name}": text for name, text in configfs.items()},
        **changed,
    }


def test_order_of_creating():
    made = texts(null_blk.create(device("null_blk", memory_backed=True, scheduler="mq-deadline")))
    assert made[:3] == ["absent /sys/module/null_blk", "exec modprobe null_blk nr_devices=0", f"mkdir {C}"]
    assert f"write {C}/size 128" in made and f"write {C}/memory_backed 1" in made
    power = made.index(f"write {C}/power 1")
    assert all(text.startswith(f"write {C}/") for text in made[3:power])
    assert made[power + 1 :] == ["wait /dev/nullb0", "write /sys/block/nullb0/queue/scheduler mq-deadline"]
    assert not [text for text in made if "zone" in text]


def test_zone_attributes_in_mib():
    made = texts(null_blk.create(zoned()))
    assert f"write {C}/zone_size 16" in made and f"write {C}/zone_nr_conv 1" in made
    assert f"write {C}/zone_capacity 12" in made and f"write {C}/zoned 1" in made


def test_shared_tags_are_made_of_the_modules_parameters():
    made = texts(null_blk.create(device("null_blk", shared_tags=True, queues=2)))
    assert made[1] == "exec modprobe null_blk nr_devices=0 submit_queues=2 poll_queues=0 hw_queue_depth=64"


def test_as_asked():
    wrong, description = described("null_blk", zoned(), zoned_readings())
    assert wrong == []
    assert description.parameters["zone_capacity_bytes"] == 12 << 20
    assert description.parameters["conventional_zones"] == 1
    assert description.parameters["configfs/zone_size"] == 16 << 20


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"queue/max_open_zones": "0\n"}, "max_open_zones: asked for 3, the device has 0 (queue/max_open_zones)"),
        ({"configfs/zone_nr_conv": "7\n"}, f"conventional_zones: asked for 1, the device has 7 ({C}/zone_nr_conv)"),
        ({"mq": "0\n1"}, "queues: asked for 1, the device has 2 (number of /sys/block/nullb0/mq/*)"),
        ({"queue/zoned": "none\n"}, "zoned: asked for True, the device has none (queue/zoned)"),
        ({"queue/nr_zones": "4\n"}, "number of zones: asked for 8, the device has 4 (queue/nr_zones)"),
        (
            {"zones": zones("c", "s")},
            f"zone_capacity_bytes: asked for {12 << 20}, the device has {16 << 20} (blkzone report)",
        ),
        (
            {"zones": zones("c", "c")},
            "conventional_zones: asked for 1, the device has zone 0 conventional, zone 1 conventional (blkzone report)",
        ),
        ({"zones": ""}, "conventional_zones: asked for 1, the device has no zones (blkzone report)"),
        ({"queue/logical_block_size": "512\n"}, "block_size_bytes: asked for 4096, the device has 512"),
    ],
)
def test_silent_changes_are_named(changed, expected):
    wrong, _ = described("null_blk", zoned(), zoned_readings(**changed))
    assert len(wrong) == 1 and wrong[0].startswith(expected)


def test_a_scheduler_that_doubles_the_depth_is_named_with_the_way_out():
    readings = {**PLAIN, "queue/scheduler": "none [mq-deadline] \n", "queue/nr_requests": "128\n"}
    (wrong,), _ = described("null_blk", device("null_blk", scheduler="mq-deadline"), readings)
    assert wrong.startswith("queue_depth: asked for 64, the device has 128 (queue/nr_requests; mq-deadline")
    assert "nr_requests: 128" in wrong
    assert described("null_blk", device("null_blk", scheduler="mq-deadline", nr_requests=128), readings)[0] == []


def test_a_scheduler_that_did_not_take():
    (wrong,), _ = described("null_blk", device("null_blk", scheduler="mq-deadline"), PLAIN)
    assert wrong == "scheduler: asked for mq-deadline, the device has none (queue/scheduler)"


def test_queues_for_polling_are_not_submission_queues():
    requested = device("null_blk", poll_queues=1)
    assert described("null_blk", requested, {**PLAIN, "mq": "0\n1", "configfs/poll_queues": "1\n"})[0] == []
    (wrong,), _ = described("null_blk", requested, {**PLAIN, "mq": "0\n1\n2"})
    assert wrong.startswith("queues: asked for 1, the device has 2")


def test_bad_blocks_are_read_as_start_and_length():
    requested = device("null_blk", badblocks="+8-15")
    assert described("null_blk", requested, {**PLAIN, "configfs/badblocks": "8 8\n"})[0] == []
    (wrong,), _ = described("null_blk", requested, {**PLAIN, "configfs/badblocks": "\n"})
    assert wrong.startswith("badblocks")


def test_attributes_not_asked_for_are_recorded():
    wrong, description = described("null_blk", device("null_blk"), {**PLAIN, "configfs/fua": "1\n"})
    assert wrong == [] and description.parameters["configfs/fua"] == 1


def test_a_mode_this_kernel_has_no_more():
    (wrong,), _ = described("null_blk", device("null_blk", queue_mode=0), {**PLAIN, "configfs/queue_mode": "2\n"})
    assert wrong.startswith("queue_mode: asked for 0, the device has 2")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"zone_size": "48m"}, "zone_size = 48m: must be a power of two"),
        ({"size": "100m"}, "size = 100m: must be a multiple of zone_size = 16m"),
        ({"zone_capacity": "24m"}, "zone_capacity = 24m: must be 1 to zone_size = 16m"),
        ({"conventional_zones": 8}, "conventional_zones = 8: must be fewer than the device's 8 zones"),
        (
            {"max_open_zones": 7},
            "max_open_zones = 7: must be 0 (no limit) or less than the device's 7 sequential zones",
        ),
        ({"max_active_zones": 2}, "max_open_zones = 3: must be at most max_active_zones = 2"),
        ({"discard": True, "memory_backed": True}, "discard = true: null_blk ignores it on a zoned device"),
        ({"memory_backed": True, "blocking": False}, "blocking = false: a memory_backed device always blocks"),
        ({"cache_size": "8m"}, "cache_size = 8388608: null_blk ignores it without memory_backed: true"),
        ({"completion_nsec": 5}, "completion_nsec = 5: has no effect without irqmode: 2"),
        ({"zone_capacity": "12800k"}, "zone_capacity = 12800k: null_blk takes whole MiB"),
    ],
)
def test_contradictions_found_without_a_machine(keys, expected):
    assert expected in null_blk.check(zoned(**keys))


def test_a_zoned_device_needs_a_zone_size():
    (problem,) = null_blk.check(device("null_blk", zoned=True))
    assert problem.startswith("zone_size is missing")


def test_removal_works_on_what_is_there():
    assert texts(null_blk.destroy(zoned())) == [
        f"write {C}/power 0",
        f"rmdir {C}",
        "exec modprobe -r null_blk",
    ]


def test_rnull_is_compared_and_identified():
    readings = {
        **PLAIN,
        "queue/nr_requests": "256\n",
        "configfs/rotational": "0\n",
        "configfs/size": "128\n",
        "configfs/irqmode": "1\n",
        "rnull_mod/build_id": BUILD_ID_NOTE,
        "rnull_mod/taint": "OE\n",
    }
    (wrong,), description = described("rnull", device("rnull"), readings)
    assert wrong == "irqmode: asked for 0, the device has 1 (/sys/kernel/config/rnull/rnullb0/irqmode)"
    assert description.environment["rnull_mod_build_id"] == "1abf74e6"
    assert description.environment["rnull_mod_out_of_tree"] is True
    assert description.environment["rnull_mod_srcversion"] is None


def test_rnull_powers_on_last():
    made = texts(rnull.create(device("rnull")))
    assert made[1:3] == ["exec modprobe rnull_mod", "mkdir /sys/kernel/config/rnull/rnullb0"]
    assert made[-3] == "write /sys/kernel/config/rnull/rnullb0/power 1"
