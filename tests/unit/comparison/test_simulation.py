"""A short form of benchmarks/statistics.py: verdicts where nothing changed, and what is found where something did."""

import importlib.util

import numpy as np
import pytest

from scripts.drivers.registry import REPOSITORY

DRAWS = 600
BOUND = 0.05 + 3 * (0.05 * 0.95 / DRAWS) ** 0.5


@pytest.fixture(scope="module")
def simulation():
    path = REPOSITORY / "benchmarks" / "statistics.py"
    specification = importlib.util.spec_from_file_location("simulation", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["iid", "drift", "boots", "bimodal boots", "bimodal samples", "hosts"])
def test_false_alarms(simulation, kind):
    values = simulation.logs(kind, 5, 6, DRAWS, np.random.default_rng(3))
    assert simulation.found(values, kind) <= BOUND
    if kind in ("boots", "bimodal boots", "hosts"):  # the data would fool who counts every sample
        assert simulation.welch(values) > 0.25


def test_a_table_as_a_whole(simulation):
    assert simulation.alarmed("boots", 5, 2, 200, np.random.default_rng(4)) <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5


def test_power_on_clean_data(simulation):
    values = simulation.logs("iid", 10, 1, DRAWS, np.random.default_rng(5))
    values[:, 1] += 0.0133
    assert simulation.found(values, "iid") >= 0.9 * simulation.welch(values) > 0.6
