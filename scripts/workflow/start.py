"""The state of one invocation: options, campaign, plan, finished runs. The Snakefile's rules ask here."""

import json
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.campaign.options import Options, check_options
from scripts.campaign.plan import Campaign, Plan, Run, build_plan, load_campaign
from scripts.dataset.digest import damaged, forget
from scripts.workflow import guard, owner
from scripts.workflow.environment import REPOSITORY, Environment, environment_of
from scripts.workflow.finished import STAGES as STAGE_RECORDS
from scripts.workflow.finished import Finished, recorded_digest, write_plan

if TYPE_CHECKING:
    from scripts.workflow.imported import Imported

CAMPAIGNS = REPOSITORY / "config" / "campaigns"
STAGES = {"parse": 4, "unload": 3, "run": 2, "prepare": 1}
"""Later steps of a session come first: no second session begins while one is open. Parsing comes before all, because
Snakemake looks at all inputs of a waiting job again and again."""


def invocation(config: Mapping[str, Any], work: Path, main: bool) -> "Start | Imported":
    """What Snakemake was started for: to measure, or to import.

    Args:
        config: Snakemake's `config`. work: working directory. main: whether this is the process the user started.

    Raises:
        CampaignError: all that is wrong.
    """
    options = check_options(config)
    if not options.input:
        return Start(options, work, main)
    from scripts.workflow.imported import Imported  # tarfile, zipfile: only where they are needed

    found = Imported(options, CAMPAIGNS, work, main)
    found.decide()
    return found


class Start:
    """One invocation of the workflow.

    Args:
        options: checked. work: working directory. main: whether this is the process the user started.
    """

    imported = False

    def __init__(self, options: Options, work: Path, main: bool):
        self.work, self.main = work, main
        self.options = options
        self.campaign: Campaign = load_campaign(CAMPAIGNS, self.options)
        if main:
            guard.hold(work)
        owner.claim(main)
        self.keep_finished = True

    @property
    def keys(self) -> Mapping[str, Any]:
        """The campaign's keys."""
        return self.campaign.keys

    @property
    def path(self) -> str:
        """The campaign file."""
        return self.campaign.document.path

    @property
    def command(self) -> str:
        """The command that makes the results again."""
        return self.options.command()

    @property
    def name(self) -> str:
        """Folder of the campaign under results/."""
        return self.campaign.name

    @cached_property
    def environment(self) -> Environment:
        """Where the campaign runs; may be not ready before the lab is built."""
        return environment_of(self.campaign)

    def look_again(self) -> None:
        """After the lab was built."""
        for name in ("environment", "plan", "finished"):
            self.__dict__.pop(name, None)

    @cached_property
    def plan(self) -> Plan:
        """All runs. Writes plan.json."""
        env = self.environment
        return build_plan(self.campaign, env.identities, env.not_run, self.campaign.keys["host"], env.clock)

    @cached_property
    def finished(self) -> Finished:
        """Complete runs; none in a child process of Snakemake or where the user wants the whole graph."""
        names = [run.name for run in self.plan.runs]
        if not self.main or not self.keep_finished or self.options.full_dag:
            return Finished(self.work, [])
        return Finished(self.work, names)

    def decide(self, dag_settings: Any) -> None:
        """Called when the graph is built: -F, -R and -f bring finished runs back into it."""
        wanted = ("forceall", "forcerun", "forcetargets")
        self.keep_finished = not any(getattr(dag_settings, name, None) for name in wanted)
        text = self.plan.to_json()
        directory = self.work / "results" / self.name
        digest = self.finished.digest(text.encode())
        stages = {recorded_digest(directory / name) for name in STAGE_RECORDS}
        missing = self.missing()
        if self.main:
            bad = damaged(directory)
            if bad:
                forget(directory, bad)
            write_plan(directory / "plan.json", text, not missing and not bad and stages == {digest})
            os.environ["BLK_MISSING"] = str(len(missing))

    def missing(self) -> list[Run]:
        """Runs still to be measured."""
        return [run for run in self.plan.runs if run.name not in self.finished]

    def unloads(self) -> list[str]:
        """Outputs that are still to be made."""
        return [f"results/runs/{run.name}/unload.json" for run in self.missing()]

    def run(self, name: str) -> Run:
        """A run of the plan.

        Raises:
            KeyError: it is not of this campaign.
        """
        try:
            return self.plan.by_name[name]
        except KeyError:
            raise KeyError(f"{name} is no run of campaign {self.name} as it is now") from None

    def spec(self, name: str) -> str:
        """The run's canonical specification."""
        return self.run(name).spec_json

    @cached_property
    def host_json(self) -> str:
        """The host's configuration for the keeper."""
        return json.dumps(self.environment.host, sort_keys=True)

    def order_json(self, name: str) -> str:
        """The run's place in the plan, for run.json and for the lines of progress."""
        run = self.run(name)
        keys = self.campaign.keys
        return json.dumps(
            {
                "variant": run.variant,
                "cell": run.cell.name,
                "round": run.round,
                "block": run.block,
                "position": run.position,
                "seed": keys["seed"],
                "boots": keys["boots"],
                "snakemake_timers": "off" if os.environ.get("BLK_CURED") else "on",
            }
        )

    def priority(self, stage: str, name: str) -> int:
        """Snakemake's priority: stage first, then the planned position."""
        return STAGES[stage] * 10_000_000 - self.run(name).position

    def summary(self) -> str:
        """What this invocation is about to do, in one line."""
        missing, total = len(self.missing()), len(self.plan.runs)
        skipped = "".join(f"; not run: {name} ({why})" for name, why in self.plan.not_run.items())
        what = f"{missing} of {total} runs to measure" if missing else f"all {total} runs are measured"
        return f"campaign {self.name}: {what}, clock: {self.plan.clock}{skipped}"

    def say(self, text: str) -> None:
        """A line of ours."""
        sys.stderr.write(f"blkcampaign: {text}\n")
        sys.stderr.flush()
