"""Plain `snakemake` on a machine whose cache has no lab: it is built inside the workflow, then the campaign runs."""

import shutil

import pytest

from scripts.lab.cache import cache_directory
from tests.guest.guest_place import GuestPlace

pytestmark = pytest.mark.guest


def test_the_lab_is_built_by_the_workflow(lab_directory, tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(cache_directory() / "artefacts", cache / "blkcampaign" / "artefacts")  # saves minutes of compilers
    place = GuestPlace(tmp_path, variants={"one": {"driver": "rnull"}}, workloads={"b1": {"bs": "4k", "runtime": "1s"}})
    place.environment["XDG_CACHE_HOME"] = str(cache)
    code, output = place.run()
    assert code == 0, output
    assert "lab: building" in output and "zloop: " not in output
    assert len(place.complete()) == 1
    labs = list((cache / "blkcampaign" / "lab").glob("*/manifest.json"))
    assert len(labs) == 1
    code, output = place.run()
    assert code == 0 and "Nothing to be done" in output
