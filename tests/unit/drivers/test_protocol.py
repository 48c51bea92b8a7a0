"""What every driver and its schema must be like, whatever the driver."""

import json
import re

import jsonschema
import pytest

from scripts.drivers import registry
from scripts.drivers.base import Facts
from scripts.hosts import operations
from tests.unit.drivers.recorded import device

NAMES = sorted(path.name.removesuffix(".schema.json") for path in registry.SCHEMAS.glob("*.schema.json"))
FUNCTIONS = ("requires", "create", "readback", "describe", "reset", "destroy", "gone", "node")
KERNEL = [name for name in NAMES if registry.driver(name).MODULES]
SMALLEST = {"zloop": {"zone_size": "16m"}, "ublk": {"zone_size": "16m"}}
KNOWN_OPS = {"read", "write", "put", "listing", "glob", "link", "mkdir", "rmdir", "rmtree", "exec", "wait", "wait_gone"}
KNOWN_OPS |= {"processes", "wait_no_process", "kill", "absent"}
COMMON = {
    "size": "bytes",
    "block_size": "bytes",
    "zone_size": "bytes",
    "zone_capacity": "bytes",
    "queues": None,
    "queue_depth": None,
    "nr_requests": None,
    "conventional_zones": None,
    "max_open_zones": None,
    "max_active_zones": None,
}


def example(name):
    return device(name, **SMALLEST.get(name, {}))


def test_all_drivers_are_looked_at():
    assert {"null_blk", "rnull", "zloop", "ublk", "loop", "brd", "file", "null"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_functions(name):
    module = registry.driver(name)
    assert [f for f in FUNCTIONS if not callable(getattr(module, f, None))] == []
    assert isinstance(module.MODULES, tuple) and isinstance(module.DAEMONS, tuple)
    assert module.__doc__


@pytest.mark.parametrize("name", NAMES)
def test_schema(name):
    schema = registry.schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == name and schema["additionalProperties"] is False
    for key, entry in schema["properties"].items():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", key), key
        assert entry.get("description", "").endswith("."), key
        assert not key.endswith(("_bytes", "_s", "_ns", "_mb")), f"{key}: the unit is not part of a campaign file's key"
        if key in COMMON:
            assert entry.get("unit") == COMMON[key], key
        if "default" in entry:
            jsonschema.validate(entry["default"], entry)
    if "scheduler" in schema["properties"]:
        assert schema["properties"]["scheduler"]["default"] == "none"


@pytest.mark.parametrize("name", NAMES)
def test_operations_are_plain_data(name):
    module, requested = registry.driver(name), example(name)
    for step in ("create", "readback", "reset", "destroy", "gone"):
        made = getattr(module, step)(requested)
        assert json.loads(json.dumps(made)) == made
        assert {o["op"] for o in made} <= KNOWN_OPS
        assert made == getattr(module, step)(requested), "a pure function"
    labels = [o["label"] for o in module.readback(requested) if "label" in o]
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("name", NAMES)
def test_a_check_finds_nothing_in_the_defaults(name):
    assert getattr(registry.driver(name), "check", lambda device: [])(example(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_destroy_never_stops_half_way(name):
    """On a half-made device any step may find nothing: each must be optional, or fine with that by itself."""
    for operation in registry.driver(name).destroy(example(name)):
        assert operation.get("optional") or operation["op"] in ("rmdir", "rmtree"), operation


@pytest.mark.parametrize("name", NAMES)
def test_gone_can_fail(name):
    for operation in registry.driver(name).gone(example(name)):
        assert not operation.get("optional"), operation
        assert operation["op"] in ("absent", "wait_gone", "wait_no_process"), operation


@pytest.mark.parametrize("name", KERNEL)
def test_gone_covers_node_and_module(name):
    module, requested = registry.driver(name), example(name)
    watched = " ".join(o.get("path", "") for o in module.gone(requested))
    disk = module.node(requested).removeprefix("/dev/")
    assert disk in watched.replace("ublk[bc]0", "ublkb0")
    if name != "loop":  # others may use loop devices
        assert all(f"/sys/module/{m}" in watched for m in module.MODULES)


@pytest.mark.parametrize("name", KERNEL)
def test_create_refuses_what_is_there_before_it_makes_anything(name):
    first = registry.driver(name).create(example(name))[0]
    assert first["op"] == "absent" and first["message"]


@pytest.mark.parametrize("name", KERNEL)
def test_scheduler_is_set_and_the_node_waited_for(name):
    module, requested = registry.driver(name), example(name)
    made = module.create(requested)
    node = module.node(requested)
    assert operations.wait_for(node) in made
    if name != "brd":  # has no request queue
        assert operations.write(f"/sys/block/{node.removeprefix('/dev/')}/queue/scheduler", "none") in made


@pytest.mark.parametrize("name", KERNEL)
def test_requires_names_what_is_missing(name):
    module, requested = registry.driver(name), example(name)
    nothing = Facts(frozenset(), frozenset(), "7.3.4", 2, True, {module.MODULES[0]: "rustc: not found"})
    assert module.requires(requested, nothing)[0] == "rustc: not found"
    everything = Facts(
        frozenset({*module.MODULES, "brd", "xfs"}), frozenset({"rublk", "mkfs.xfs", "blkzone", "losetup"}), "7.3.4", 2
    )
    assert module.requires(requested, everything) == []
    assert "root" in module.requires(requested, Facts(everything.modules, everything.programs, "7.3.4", 2, False))[0]


@pytest.mark.parametrize("name", ["file", "null"])
def test_host_only_drivers_need_nothing(name):
    module = registry.driver(name)
    assert module.requires(example(name), Facts(frozenset(), frozenset(), "6.1", 1, False)) == []
