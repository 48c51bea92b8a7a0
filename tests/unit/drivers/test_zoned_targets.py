"""zloop and ublk: the two zoned devices over files, and what they share."""

import pytest

from scripts.drivers import backing, ublk, zloop
from scripts.fio.command import prep_options
from tests.unit.drivers.recorded import PLAIN, RUBLK_LIST, ZONED, described, device, texts, zones

MOUNT = "/run/blkcampaign-backing"
DIRECTORY = f"{MOUNT}/blkcampaign"
ZONES = {"zone_size": "16m"}
QUEUE = {**ZONED, "queue/nr_requests": "128\n", "zones": zones("s", "s")}
SERVED = {**QUEUE, "list": RUBLK_LIST, "version": "rublk 0.2.15\n"}


def test_both_get_the_same_backing_store():
    stores = [d.create(device(name, **ZONES)) for name, d in (("zloop", zloop), ("ublk", ublk))]
    made = [[o for o in store if o["op"] in ("exec", "mkdir") and MOUNT in str(o) + "/dev/ram0"] for store in stores]
    expected = texts(backing.create(device("zloop", **ZONES)))
    for store in map(texts, stores):
        first = store.index(expected[0])
        assert store[first : first + len(expected)] == expected
        assert store[first + len(expected)] == f"mkdir {DIRECTORY}/0"
    assert made[0]


def test_a_ram_disk_of_others_is_not_formatted():
    made = texts(backing.create(device("zloop", **ZONES)))
    assert made[0] == "absent /sys/module/brd"
    assert made.index("exec mkfs.xfs -q -f /dev/ram0") > made.index("exec modprobe brd rd_nr=1 rd_size=327680")


def test_backing_in_a_directory_of_the_users_touches_only_its_own_folder():
    requested = device("zloop", **ZONES, backing="/mnt/disk")
    everything = [*zloop.create(requested), *zloop.destroy(requested), *zloop.gone(requested)]
    touched = {
        o["path"] for o in everything if o["op"] in ("mkdir", "rmtree", "rmdir", "absent") and "mnt" in o["path"]
    }
    assert touched == {"/mnt/disk/blkcampaign", "/mnt/disk/blkcampaign/0"}
    assert not [text for text in texts(everything) if "mount" in text or "mkfs" in text or "brd" in text]
    assert zloop.prefill(requested) == []


def test_backing_store_is_recorded():
    facts = backing.facts(device("zloop", **ZONES), {"backing": "xfs 4096 65536 60096\n"})
    assert facts == {
        "backing": "xfs-brd",
        "backing_file_system": "xfs",
        "backing_block_bytes": 4096,
        "backing_size_bytes": 256 << 20,
        "backing_used_bytes": 5440 * 4096,
    }
    assert backing.facts(device("zloop", **ZONES), {"backing": "UNKNOWN (0x1) 4096"}) == {"backing": "xfs-brd"}


def test_zloop_control_line():
    requested = device("zloop", **ZONES, zone_capacity="12m", conventional_zones=2, max_open_zones=4, queues=2)
    assert zloop.request(requested) == (
        "add id=0,capacity_mb=128,zone_size_mb=16,conv_zones=2,"
        f"base_dir={DIRECTORY},nr_queues=2,queue_depth=128,zone_capacity_mb=12,max_open_zones=4"
    )
    flags = device("zloop", **ZONES, buffered_io=True, zone_append=False, discard_write_cache=True)
    assert zloop.request(flags).endswith(",zone_append=0,buffered_io,discard_write_cache")


def test_zloop_order():
    made = texts(zloop.create(device("zloop", **ZONES)))
    assert made[0] == "absent /sys/module/zloop"
    assert made[-5:-2] == [
        "exec modprobe zloop",
        "wait /dev/zloop-control",
        f"write /dev/zloop-control {zloop.request(device('zloop', **ZONES))}",
    ]
    gone = texts(zloop.destroy(device("zloop", **ZONES)))
    assert gone == [
        "write /dev/zloop-control remove id=0",
        "wait_gone /dev/zloop0",
        "exec modprobe -r zloop",
        f"exec umount {MOUNT}",
        f"rmdir {MOUNT}",
        "exec modprobe -r brd",
    ]


def test_zloop_as_asked():
    wrong, description = described("zloop", device("zloop", **ZONES), QUEUE)
    assert wrong == []
    assert description.parameters["zone_capacity_bytes"] == 16 << 20
    assert description.environment["backing"] == "xfs-brd"


def test_zloop_loses_a_part_of_a_zone_and_queues():
    wrong, _ = described("zloop", device("zloop", **ZONES, queues=9), {**QUEUE, "size": "229376\n", "mq": "0\n1"})
    assert [text.split(":")[0] for text in wrong] == ["size_bytes", "queues"]
    assert "asked for 134217728, the device has 117440512" in wrong[0]


def test_zloop_has_no_limit_of_active_zones():
    (problem,) = zloop.check(device("zloop", **ZONES, max_active_zones=4))
    assert problem == "max_active_zones = 4: zloop has no such limit; must be 0"


def test_rublk_command():
    requested = device("ublk", **ZONES, conventional_zones=1, max_open_zones=4, queues=2, user_copy=True)
    assert " ".join(ublk.command(requested)) == (
        "rublk add zoned -n 0 --queue 2 --depth 128 --logical-block-size 4096 --io-buf-size 524288 --user-copy"
        f" --size 128 --zone-size 16 --conv-zones 1 --path {DIRECTORY}/0 --pre-alloc-size 16 --max-open-zones 4"
    )
    loop = " ".join(ublk.command(device("ublk", target="loop", buffered_io=True)))
    assert loop.endswith(f"--buffered-io --file {DIRECTORY}/image") and "zone" not in loop
    assert "--file" not in ublk.command(device("ublk", target="null"))


def test_ublk_as_asked():
    wrong, description = described("ublk", device("ublk", **ZONES), SERVED)
    assert wrong == []
    assert description.environment["rublk_version"] == "0.2.15"
    assert description.parameters["rublk/io_buf_size_bytes"] == 524288
    listed = description.environment["rublk_list"]
    assert "state LIVE" in listed and "262 " not in listed and "tid" not in listed


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"mq": "0\n1"}, "queues: asked for 1, the device has 2"),
        ({"queue/nr_requests": "256\n"}, "queue_depth: asked for 128, the device has 256 (queue/nr_requests)"),
        ({"list": RUBLK_LIST.replace("LIVE", "DEAD")}, "state: asked for LIVE, the device has DEAD (rublk list)"),
        ({"list": RUBLK_LIST.replace("524288", "65536")}, "io_buf_size_bytes: asked for 524288, the device has 65536"),
        ({"zones": zones("c", "s")}, "conventional_zones: asked for 0, the device has zone 0 conventional"),
    ],
)
def test_ublk_silent_changes(changed, expected):
    wrong, _ = described("ublk", device("ublk", **ZONES), {**SERVED, **changed})
    assert len(wrong) == 1 and wrong[0].startswith(expected)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("zero_copy", ("0x26042", "0x26843")),
        ("multi_cpus_affinity", ("ublksrv_flags: 0x1000000000", "ublksrv_flags: 0x0")),
        ("mlock", ("0x1000000000", "0x3000000000")),
        ("buffered_io", ('"direct_io":1', '"direct_io":0')),
        ("async_await", ('"async_await":false', '"async_await":true')),
        ("no_discard", ('"no_discard":false', '"no_discard":true')),
    ],
)
def test_switches_as_rublk_lists_them(key, words):
    """`rublk list` of a loop target as recorded, and with the one word that the switch changes."""
    listed = RUBLK_LIST.replace('"zoned","type"', '"loop","type"').replace("0x261c2", "0x26042")
    data = '{"loop":{"async_await":false,"back_file_path":"/run/image","direct_io":1,"no_discard":false}}'
    listed = listed.replace('{"zoned":{"path":"/run/blkcampaign-backing/blkcampaign/0"}}', data)
    readings = {**PLAIN, "queue/nr_requests": "128\n", "list": listed}
    changed = {**readings, "list": listed.replace(*words)}
    assert changed != readings
    without, with_it = device("ublk", target="loop"), device("ublk", target="loop", **{key: True})
    assert described("ublk", without, readings)[0] == [] == described("ublk", with_it, changed)[0]
    for requested, read in ((without, changed), (with_it, readings)):
        assert [text.split(":")[0] for text in described("ublk", requested, read)[0]] == [key]


def test_ublk_geometry_of_an_old_superblock():
    """Asked for 256 MiB in 32 MiB zones; a superblock in the directory said 512, 64 and two conventional ones."""
    requested = device("ublk", size="256m", zone_size="32m", max_open_zones=2)
    old = {**SERVED, "size": "1048576\n", "queue/chunk_sectors": "131072\n", "queue/max_open_zones": "4\n"}
    wrong, _ = described("ublk", requested, {**old, "zones": zones("c", "c")})
    assert {text.split(":")[0] for text in wrong} == {
        "size_bytes",
        "zone_size_bytes",
        "max_open_zones",
        "conventional_zones",
    }


def test_a_server_that_says_nothing_is_not_live():
    wrong, _ = described("ublk", device("ublk", **ZONES), {**SERVED, "list": ""})
    assert "state: asked for LIVE, the device has nothing (rublk list)" in wrong


def test_ublk_null_is_used_as_far_as_asked():
    requested = device("ublk", target="null")
    listed = RUBLK_LIST.replace('"zoned","type"', '"null","type"')
    readings = {**PLAIN, "queue/nr_requests": "128\n", "size": "524288000\n", "list": listed}
    wrong, description = described("ublk", requested, readings)
    assert wrong == []
    assert description.parameters["size_bytes"] == 250 << 30
    assert ublk.fio_options(requested) == {"size_bytes": 128 << 20}
    assert ublk.fio_options(device("ublk", **ZONES)) == {}
    assert not [text for text in texts(ublk.create(requested)) if "mount" in text or "brd" in text]


@pytest.mark.parametrize("target", ["null", "loop"])
def test_targets_without_zones_are_not_prepared_as_zoned(target):
    assert "zonemode" not in prep_options({}, device("ublk", target=target))
    assert prep_options({}, device("ublk", **ZONES))["zonemode"] == "zbd"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({**ZONES, "max_open_zones": 99}, "max_open_zones = 99: must be 0 (no limit) or less than"),
        ({**ZONES, "pre_alloc_size": "32m"}, "pre_alloc_size = 32m: must be at most zone_size = 16m"),
        ({**ZONES, "zone_capacity": "12m"}, "zone_capacity = 12m: rublk has none; must be zone_size = 16m"),
        ({**ZONES, "buffered_io": True}, "buffered_io = true: rublk's zoned target does not have it"),
        ({**ZONES, "mlock": True}, "mlock = true: rublk's zoned target does not have it; there is user_copy, multi"),
        ({**ZONES, "user_copy": False}, "user_copy = false: rublk's zoned target always copies itself"),
        ({"target": "null", "user_copy": True, "zero_copy": True}, "zero_copy = true: can not be had together"),
        ({}, "zone_size is missing"),
        ({**ZONES, "target": "null"}, "zone_size = 16777216: only target: zoned has that, not null"),
        ({"target": "null", "size": "251g"}, "size = 251g: must be at most the 250g of target: null"),
        ({"target": "loop", "size": "1000k"}, "size = 1000k: rublk takes whole MiB"),
        ({**ZONES, "io_buf_size": 5000}, "io_buf_size = 5000: must be a multiple of 4096"),
    ],
)
def test_ublk_contradictions(keys, expected):
    problems = ublk.check(device("ublk", **keys))
    assert len(problems) == 1 and problems[0].startswith(expected)


def test_ublk_teardown_judges_by_state():
    destroy = ublk.destroy(device("ublk", **ZONES))
    assert texts(destroy)[:6] == [
        "exec rublk del -n 0",
        "wait_gone /dev/ublkb0",
        "kill rublk",
        "wait_no_process rublk",
        "exec modprobe -r ublk_drv",
        "rmtree /run/ublksrvd/0000.json",
    ]
    assert 101 in destroy[0]["allow"]
    assert texts(ublk.gone(device("ublk", **ZONES)))[:4] == [
        "wait_gone /dev/ublk[bc]0",
        "wait_no_process rublk",
        "wait_gone /sys/module/ublk_drv",
        "absent /run/ublksrvd/0000.json",
    ]
    assert ublk.DAEMONS == ("rublk",)
