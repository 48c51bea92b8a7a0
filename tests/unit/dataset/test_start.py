"""Stages start quickly: what takes long to import is imported where it is needed."""

import subprocess
import sys

import pytest

from tests.place import REPOSITORY


@pytest.mark.parametrize("stage", ["parse_runs", "import_results"])
def test_a_stage_that_only_writes_never_imports_pandas(stage):
    code = f"import sys, scripts.{stage}; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=False).returncode == 0


def test_the_start_of_snakemake_imports_nothing_of_weight():
    code = "import sys, scripts.workflow.start; sys.exit(bool({'pandas', 'pyarrow', 'vl_convert', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=False).returncode == 0
