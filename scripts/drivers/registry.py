"""Finding drivers: their modules and the schemas of their parameters.

Besides this package and `config/schemas/drivers/`, the directories in BLK_DRIVER_PATH (separated by colons) are looked
at first; there `<name>.py` and `<name>.schema.json` lie side by side. A private driver needs no change here.
"""

import functools
import importlib
import importlib.util
import json
import os
from pathlib import Path
from typing import Any, cast

from scripts.drivers.base import Driver

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMAS = REPOSITORY / "config" / "schemas" / "drivers"


def private_directories() -> list[Path]:
    """Directories named by BLK_DRIVER_PATH."""
    return [Path(part) for part in os.environ.get("BLK_DRIVER_PATH", "").split(":") if part]


@functools.cache
def schema_path(name: str) -> Path | None:
    """The file that describes the driver's parameters; None when there is no such driver."""
    for directory in [*private_directories(), SCHEMAS]:
        path = directory / f"{name}.schema.json"
        if path.is_file():
            return path
    return None


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """JSON Schema of the driver's `device:` parameters.

    Raises:
        KeyError: no such driver.
    """
    path = schema_path(name)
    if path is None:
        raise KeyError(name)
    return dict(json.loads(path.read_text()))


@functools.cache
def driver(name: str) -> Driver:
    """The driver's module.

    Raises:
        KeyError: no such driver.
    """
    path = schema_path(name)
    if path is None:
        raise KeyError(name)
    if path.parent == SCHEMAS:
        return cast(Driver, importlib.import_module(f"scripts.drivers.{name}"))
    specification = importlib.util.spec_from_file_location(f"blk_driver_{name}", path.parent / f"{name}.py")
    if specification is None or specification.loader is None:
        raise KeyError(name)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return cast(Driver, module)


def names() -> list[str]:
    """Names of all drivers."""
    found = {
        p.name.removesuffix(".schema.json") for d in [*private_directories(), SCHEMAS] for p in d.glob("*.schema.json")
    }
    return sorted(found)
