# Start of every invocation: options and campaign are checked, the working directory is guarded. All rules share BLK.
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(workflow.basedir))

from snakemake.exceptions import WorkflowError

from scripts.campaign.errors import CampaignError
from scripts.workflow import quirks
from scripts.workflow.start import invocation

PYTHON = sys.executable
CLIENT = f"{PYTHON} -I -S {workflow.basedir}/scripts/keeper/client.py"
STAGE = f"cd {workflow.basedir} && {PYTHON} -m"
WORK = os.getcwd()


wildcard_constraints:
    run=r"[A-Za-z0-9_.-]+",


try:
    BLK = invocation(config, Path.cwd(), workflow.is_main_process)
except CampaignError as error:
    raise WorkflowError(str(error)) from None


def planned():
    """The plan, once the graph is built; builds the lab first where that is needed. None where nothing is measured."""
    if BLK.imported:
        return None
    if not BLK.environment.ready:
        checkpoints.build_lab.get()
        BLK.look_again()
    if "plan" not in BLK.__dict__:
        try:
            BLK.decide(workflow.dag_settings)
        except CampaignError as error:
            raise WorkflowError(str(error)) from None
    return BLK.plan


def measured(wildcards):
    """Runs to be measured; finished ones have no job."""
    planned()
    return BLK.unloads()


def begin():
    """Before the first job."""
    os.environ["BLK_CURED"] = "1"
    quirks.quieten()
    if workflow.local_exec:
        try:
            quirks.cure(workflow)
        except RuntimeError as error:
            raise WorkflowError(str(error)) from None
    if BLK.imported or BLK.environment.ready:
        BLK.say(BLK.summary())


def partial_tables():
    """After a failure: tables of what there is, with reasons for what there is not."""
    if "plan" in BLK.__dict__ and workflow.is_main_process:
        folder = f"{WORK}/results/{BLK.name}"
        for stage in (
            ["scripts.parse_runs", "--work", WORK, "--campaign", BLK.name],
            ["scripts.compare", "--results", folder, "--partial"],
            ["scripts.plot", "--results", folder, "--partial"],
            [
                "scripts.report",
                "--results",
                folder,
                "--partial",
                "--campaign-file",
                str(Path(BLK.path).resolve()),
                "--command",
                BLK.command,
            ],
        ):
            if subprocess.run([PYTHON, "-m", *stage], cwd=workflow.basedir, check=False).returncode:
                break
