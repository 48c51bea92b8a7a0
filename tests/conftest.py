"""Fixtures of tests that run Snakemake."""

import pytest

from tests.place import Place


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)
