"""Campaign files: every error names key, value, what is allowed and the file; plans are stable."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from scripts.campaign.errors import CampaignError
from scripts.campaign.options import Options, check_options
from scripts.campaign.plan import build_plan, load_campaign
from scripts.lab import lock
from scripts.workflow.environment import guest_identities

REPOSITORY = Path(__file__).resolve().parents[3]
CAMPAIGNS = REPOSITORY / "config" / "campaigns"
NAMES = sorted(path.stem for path in CAMPAIGNS.glob("*.yaml") if path.stem != "imported")


def plan_of(campaign):
    return build_plan(campaign, {name: {"host": "x"} for name in campaign.variants}, {}, "guest", "instructions")


def load(tmp_path, document):
    path = tmp_path / "c.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document, sort_keys=False))
    return load_campaign(tmp_path, Options(str(path)))


def base(**changes):
    document = {
        "title": "t",
        "variants": {"a": {"driver": "null_blk"}, "b": {"driver": "null_blk", "replica": 1}},
        "device": {"size": "64m", "queue_depth": 32},
        "fio": {"rw": "randread", "runtime": 1, "time_based": True},
        "workloads": {"w": {"bs": "4k"}},
    }
    return {**document, **changes}


def errors(tmp_path, document):
    with pytest.raises(CampaignError) as caught:
        load(tmp_path, document)
    text = str(caught.value)
    assert "c.yaml" in text
    return text


@pytest.mark.parametrize("name", NAMES)
def test_shipped_campaigns_are_valid_at_all_scales(name):
    raw = yaml.safe_load((CAMPAIGNS / f"{name}.yaml").read_text())
    for scale in [None, *raw.get("scales", {})]:
        campaign = load_campaign(CAMPAIGNS, Options(name, scale=scale))
        assert plan_of(campaign).runs


def test_the_largest_campaign_has_9600_runs_with_names_of_their_own():
    plan = plan_of(load_campaign(CAMPAIGNS, Options("rnull", scale="paper")))
    assert len({run.name for run in plan.runs}) == 9600


def test_an_updated_lab_measures_again_all_that_depends_on_what_changed():
    campaign = load_campaign(CAMPAIGNS, Options("zoned"))
    locked = lock.load(REPOSITORY)

    def names(found, clock="instructions"):
        plan = build_plan(campaign, guest_identities(campaign, found, clock), {}, "guest", clock)
        return {(run.variant, run.cell.name, run.round): run.name for run in plan.runs}

    before = names(locked)
    assert before == names(locked)
    kernel = names(replace(locked, kernel="7.99.0"))
    assert not set(before.values()) & set(kernel.values())
    assert not set(before.values()) & set(names(locked, "emulated").values())
    rublk = names(replace(locked, rublk={**locked.rublk, "version": "9.9.9"}))
    assert {key[0] for key in before if before[key] != rublk[key]} == {"ublk"}


def test_the_published_scale_of_zoned():
    campaign = load_campaign(CAMPAIGNS, Options("zoned", scale="paper"))
    device = campaign.devices["zloop", campaign.cells[-1].name]
    assert (device["size_bytes"], device["zone_size_bytes"], device["queues"]) == (512 << 30, 256 << 20, 8)
    assert campaign.cells[0].options["runtime_s"] == 60


def test_all_errors_at_once(tmp_path):
    document = base(repeat=3, boots="rounds", workloads={"w": {"bs": "4q", "iodepht": 2}})
    text = errors(tmp_path, document)
    assert "5 errors" in text or "4 errors" in text
    assert "repeat = 3: unknown key; did you mean 'repeats'?" in text
    assert "boots = 'rounds': one of round, campaign; did you mean 'round'?" in text
    assert "workloads.w.bs = '4q': a size in bytes" in text
    assert "iodepht" in text and "did you mean 'iodepth'?" in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"workloads": {"w": {"bs": "128m"}}}, "workloads.w.bs = '128m': larger than the device of 64m"),
        ({"workloads": {"w": {"iodepth": 64, "ioengine": "libaio"}}}, "deeper than the device's 1 x 32 requests"),
        ({"workloads": {"w": {"iodepth": 2, "ioengine": "psync"}}}, "its depth is always 1"),
        ({"workloads": {"w": {"numjobs": 9}}}, "more workers than the host's 2 processors"),
        ({"workloads": {"w": {"ramp_time": 5}}}, "must not be longer than the runtime"),
        ({"workloads": {"w": {"runtime": 0}}}, "must be more than 0 s"),
        ({"fio": {"rw": "read", "ramp_time": 1}}, "needs runtime and time_based"),
        ({"fio": {"rw": "read", "time_based": True}}, "needs a runtime"),
        ({"fio": {"bs": "4k"}}, "w.rw: missing"),
        ({"workloads": {"w": {"bs": 5000}}}, "multiple of the device's block size of 4k"),
        ({"baseline": "c"}, "baseline = 'c': one of a, b"),
        ({"device": {"siez": "1g"}}, "did you mean 'size'?"),
        ({"variants": {"a": {"driver": "nul_blk"}}}, "did you mean 'null_blk'?"),
        ({"variants": {"a": {"driver": "null_blk"}, "b": {"driver": "null_blk"}}}, "replica: 1"),
        ({"workloads": {"w": {"bs": "4k"}, "v": {"bs": ["4k", "8k"]}}}, "is the same measurement in the cells"),
        ({"repeats": 0}, "must be at least 1"),
        ({"tables": {"t": {"layout": "iops"}}}, "tables.t.layout = 'iops': one of benchstat"),
        ({"tables": {"t": {"layout": "iops-bw", "reference": "zonde"}}}, "did you mean 'zoned'?"),
        ({"axes": ["kernel"]}, "axes"),
        ({"workloads": {}}, "must not be empty"),
        ({"workloads": {"w": {"bs": ["4k", "4k"]}}}, "differ from each other"),
        ({"device": {"size": "64m", "zoned": True, "zone_size": "3m"}}, "power of two"),
    ],
)
def test_contradictions(tmp_path, change, said):
    with pytest.raises(CampaignError) as caught:
        plan_of(load(tmp_path, base(**change)))
    assert said in str(caught.value)
    assert "c.yaml" in str(caught.value)


@pytest.mark.parametrize("text", ["", "- a", "a: [", "title: x\ntitle: y\n", "{a: b}: c", "\t"])
def test_files_that_are_no_campaign(tmp_path, text):
    errors(tmp_path, text)


def test_unknown_campaign_names_the_closest():
    with pytest.raises(CampaignError, match="did you mean 'zoned'"):
        load_campaign(CAMPAIGNS, Options("zonde"))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "campaign: missing"),
        ({"campaign": "x", "sede": 1}, "did you mean 'seed'"),
        ({"campaign": "x", "repeats": "many"}, "repeats = 'many'"),
        ({"campaign": "x", "clock": "hardwear"}, "did you mean 'hardware'"),
        ({"campaign": "x", "mapping": "y"}, "only with input="),
    ],
)
def test_options(config, said):
    with pytest.raises(CampaignError) as caught:
        check_options(config)
    assert said in str(caught.value)


def test_plan_is_stable_under_additions(tmp_path):
    names = [r.name for r in plan_of(load(tmp_path, base())).runs]
    again = [r.name for r in plan_of(load(tmp_path, base(question="unrelated"))).runs]
    assert names == again
    more = plan_of(load(tmp_path, base(workloads={"w": {"bs": "4k"}, "v": {"bs": "8k"}}))).runs
    assert set(names) < {r.name for r in more}
    kept = [r.name for r in more if r.name in set(names)]
    assert kept == names
    other_seed = [r.name for r in plan_of(load(tmp_path, base(seed=2))).runs]
    assert sorted(other_seed) == sorted(names)


def test_order_is_rounds_of_blocks(tmp_path):
    runs = plan_of(load(tmp_path, base(workloads={f"w{i}": {"bs": f"{4 * i}k"} for i in range(1, 5)}))).runs
    assert [r.round for r in runs] == sorted(r.round for r in runs)
    for number in range(0, len(runs), 2):
        first, second = runs[number : number + 2]
        assert first.cell.name == second.cell.name and first.block == second.block
        assert {first.variant, second.variant} == {"a", "b"}


def test_a_changed_default_is_a_changed_run(tmp_path):
    explicit = plan_of(load(tmp_path, base(device={"size": "64m", "queue_depth": 64}))).runs[0]
    default = plan_of(load(tmp_path, base(device={"size": "64m"}))).runs[0]
    assert explicit.spec_json == default.spec_json  # the default is spelled out
    assert '"queue_depth":64' in default.spec_json


def test_layouts_of_the_schema_are_those_that_exist():
    from scripts.comparison.layouts import names

    schema = json.loads((REPOSITORY / "config" / "schemas" / "campaign.schema.json").read_text())
    layouts = schema["properties"]["tables"]["additionalProperties"]["properties"]["layout"]["enum"]
    assert layouts == names()


def test_the_five_published_comparisons_have_a_campaign():
    layouts = set()
    for name in NAMES:
        raw = yaml.safe_load((CAMPAIGNS / f"{name}.yaml").read_text())
        layouts |= {table["layout"] for table in raw["tables"].values()}
    assert {"iops-bw", "relative-miops", "relative-by-bs", "loop-cpu", "grouped-depth"} <= layouts


def test_a_replica_of_the_baseline_is_a_twin(tmp_path):
    document = base(variants={**base()["variants"], "c": {"driver": "null_blk", "device": {"queues": 2}}}, baseline="a")
    plan = json.loads(plan_of(load(tmp_path, document)).to_json())
    assert [name for name, v in plan["variants"].items() if v.get("aa")] == ["b"]
    assert plan["devices"]["c"]["queues"] == 2 and plan["options"]["w"]["rw"] == "randread"


def test_environment_can_be_an_axis(tmp_path):
    plan = json.loads(plan_of(load(tmp_path, base(axes=["environment"]))).to_json())
    assert "environment" in plan["axes"]


def test_differences_are_said():
    campaign = load_campaign(CAMPAIGNS, Options("rnull"))
    assert "Rust rnull has no memory_backed; C null_blk has memory_backed=true" in campaign.differences


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"repeats": 10**30}, "at most 1000000"),
        (
            {"fio": {"rw": "randread", "iodepth": list(range(1, 2000)), "numjobs": list(range(1, 2000))}},
            "at most 1000000",
        ),
        ({"workloads": {1: {"bs": "4k"}}}, "in quotes"),
        ({"variants": {True: {"driver": "null_blk"}}}, "in quotes"),
        ({"fio": {"rw": "randread", "runtime": -1}}, "a time such as"),
        ({"fio": {"rw": "randread", "runtime": float("nan")}}, "a time such as"),
        ({"workloads": {"w": {"bs": -1}}}, "a size in bytes"),
        ({"device": {"size": -1}}, "a size in bytes"),
        ({"device": {"size": ["64m", None]}}, "device.size"),
    ],
)
def test_nonsense_is_one_message_and_costs_no_memory(tmp_path, change, said):
    assert said in errors(tmp_path, base(**change))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00t", "not UTF-8 text: byte 0 is 0xff"),
        ("title: é\n".encode("latin-1"), "byte 7"),
        ("title: t\n".encode("utf-16"), "not UTF-8"),
        (b"title: a\x00b\n", "not YAML"),
        (b"", "must be a mapping"),
        (b"[1]\n", "must be a mapping"),
        (b"title: t\n\tx: 1\n", "not YAML"),
    ],
)
def test_files_that_are_no_text_are_said(tmp_path, content, said):
    (tmp_path / "c.yaml").write_bytes(content)
    with pytest.raises(CampaignError) as caught:
        load_campaign(tmp_path, Options(str(tmp_path / "c.yaml")))
    assert said in str(caught.value) and "c.yaml" in str(caught.value)


def test_a_directory_and_a_missing_file_are_told_apart(tmp_path):
    (tmp_path / "dir.yaml").mkdir()
    for name, said in (("dir.yaml", "not a file"), ("none.yaml", "no such file")):
        with pytest.raises(CampaignError, match=said):
            load_campaign(tmp_path, Options(str(tmp_path / name)))


def test_a_byte_order_mark_is_no_part_of_a_campaign(tmp_path):
    (tmp_path / "c.yaml").write_bytes(b"\xef\xbb\xbf" + yaml.safe_dump(base()).encode())
    assert load_campaign(tmp_path, Options(str(tmp_path / "c.yaml"))).keys["title"] == "t"


@pytest.mark.parametrize("name", ["../../x", "/x", "a/b", "", ".hidden", "a.b", "summary", "x y"])
@pytest.mark.parametrize("key", ["tables", "plots"])
def test_names_of_tables_and_pictures_stay_in_their_folder(tmp_path, key, name):
    one = {"layout": "benchstat"} if key == "tables" else {"kind": "facet"}
    text = errors(tmp_path, base(**{key: {name: one}}))
    assert key in text and repr(name) in text and "must match" in text
