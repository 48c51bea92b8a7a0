from scripts.fio import command


def test_argv_has_plain_bytes_and_the_engine_first(monkeypatch):
    monkeypatch.delenv("BLK_FIO", raising=False)
    workload = {"bs_bytes": 4096, "fixedbufs": True, "ioengine": "io_uring", "runtime_s": 0.5, "ramp_time_s": 2}
    argv = command.argv(workload, "/dev/x", "/run/o.json")
    assert argv[:4] == ["fio", "--name=run", "--filename=/dev/x", "--ioengine=io_uring"]
    assert {"--bs=4096", "--fixedbufs=1", "--runtime=500000us", "--ramp_time=2", "--output=/run/o.json"} <= set(argv)


def test_null_engine_has_no_file():
    assert not any("filename" in part for part in command.argv({"ioengine": "null"}, "null", "o"))


def test_the_size_of_a_device_is_a_limit_for_a_workload():
    own = {"ioengine": "null", "size_bytes": 1 << 30}
    assert command.with_own({"size_bytes": 1 << 20, "ioengine": "psync"}, own)["size_bytes"] == 1 << 20
    assert command.with_own({"size_bytes": 1 << 40}, own)["size_bytes"] == 1 << 30
    assert command.with_own({"ioengine": "psync"}, own) == own
    assert command.with_own({"bs_bytes": 1}, {}) == {"bs_bytes": 1}


def test_prep_of_a_zoned_device_writes_what_zones_hold():
    device = {
        "size_bytes": 64 << 20,
        "zone_size_bytes": 16 << 20,
        "zone_capacity_bytes": 12 << 20,
        "conventional_zones": 1,
    }
    assert command.requested_prep_bytes(device) == (16 + 3 * 12) << 20
    assert command.prep_options({}, device)["zonemode"] == "zbd"
    assert "zonemode" not in command.prep_options({}, {"size_bytes": 1 << 20})
