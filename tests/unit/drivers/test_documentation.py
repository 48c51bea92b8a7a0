"""The example in docs/adding-a-driver.md is a driver."""

import re

from scripts.drivers import registry
from scripts.hosts.operations import wait_gone

TEXT = (registry.REPOSITORY / "docs" / "adding-a-driver.md").read_text()


def test_the_example_is_found_and_works(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    (schema,) = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "echo_blk.py").write_text(code)
    (tmp_path / "echo_blk.schema.json").write_text(schema)
    monkeypatch.setenv("BLK_DRIVER_PATH", str(tmp_path))
    for found in (registry.schema_path, registry.schema, registry.driver):
        found.cache_clear()
    try:
        module = registry.driver("echo_blk")
        device = {"size_bytes": 64 << 20, "scheduler": "none"}
        assert module.check({"size_bytes": 1000}) == ["size = 1000: echo_blk takes whole MiB"]
        assert module.create(device)[1]["argv"] == ["modprobe", "echo_blk", "size_mb=64"]
        assert wait_gone("/dev/echo0") in module.gone(device)
        readings = {"queue/scheduler": "[none]\n", "size": "1000\n"}
        assert [m.parameter for m in module.describe(device, readings).mismatches] == ["size_bytes"]
    finally:
        for found in (registry.schema_path, registry.schema, registry.driver):
            found.cache_clear()


def test_every_shared_part_is_named():
    shared = {path.stem for path in (registry.REPOSITORY / "scripts" / "drivers").glob("*.py")}
    shared -= {*registry.names(), "__init__", "base", "registry"}
    assert {name for name in shared if f"| `{name}` |" in TEXT} == shared
