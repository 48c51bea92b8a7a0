"""results/<campaign>/ as parse_runs leaves it, for tests of what comes after."""

import json

from scripts.dataset.schema import ENVIRONMENT, SCHEMA
from scripts.dataset.write import table_of, write_table

FACTS = {"kernel": "6.18", "fio_version": "fio-3.39", "virtualisation": "none", "queue/scheduler": "none"}
NOISE = (1.0, 1.002, 0.998, 1.001, 0.999)


def write(directory, variants, cells, /, *, rounds=3, boots=None, lost=(), facts=None, change=None, **more):
    """Write plan.json, runs.parquet and environment.parquet.

    variants: {name: factor of IOPS}, or {name: None} for not run. cells: {name: axes}. lost: (variant, cell) that failed.
    change(row): changes a row of runs.parquet before it is written.
    """
    rows, runs, environment = [], [], []
    for number in range(rounds):
        for place, (cell, axes) in enumerate(cells.items()):
            for variant, factor in variants.items():
                if factor is None:
                    continue
                run = f"{variant}-{cell}-{number}"
                common = {"run": run, "variant": variant, "cell": cell, "workload": cell, "sample": number + 1}
                common |= {"round": number + 1, "block": place + 1, "position": len(runs) + 1}
                runs.append({**common, "axes": axes, "label": axes.get("label", cell)})
                if (variant, cell) in lost:
                    rows.append({**common, "status": "failed", "reason": "fio: No space left", "warnings": []})
                    continue
                iops = 10000 * (1 + place) * factor * NOISE[number % 5]
                directions = {"rw": ["read", "write"]}.get(axes["rw"], [axes["rw"].removeprefix("rand")])
                for direction in directions:
                    row = {
                        **common, "status": "ok", "direction": direction, "iops": iops, "bs_bytes": axes["bs"],
                        "bw_bytes_per_s": iops * axes["bs"], "total_ios": int(iops), "clat_mean_ns": 1e9 / iops,
                        "clat_p99_ns": int(3e9 / iops), "usr_cpu_percent": 10.0, "sys_cpu_percent": 30.0,
                        "boot_id": (boots or "abcdefgh")[number], "hostname": "h", "clock": "hardware",
                        "environment_id": "e", "warnings": [],
                    }  # fmt: skip
                    rows.append((change or (lambda r: r))(row))
                known = {**FACTS, **(facts or {}).get(variant, {})}
                environment += [{"run": run, "name": name, "value": value} for name, value in known.items()]
    names = list(dict.fromkeys(name for axes in cells.values() for name in axes if name != "label"))
    plan = {
        "format": 1, "campaign": "t", "title": "a against b", "baseline": next(iter(variants)), "clock": "hardware",
        "host": "local", "variants": {v: {"driver": "null_blk", "label": f"driver {v}"} for v in variants},
        "not_run": {v: "no such module" for v, f in variants.items() if f is None}, "axes": names, "runs": runs,
    }  # fmt: skip
    plan |= more
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "plan.json").write_text(json.dumps(plan))
    write_table(table_of(rows, SCHEMA), directory / "runs.parquet")
    write_table(table_of(environment, ENVIRONMENT), directory / "environment.parquet")
    (directory / "parsed.json").write_text(json.dumps({"format": 1, "digest": "d"}))
    return directory


def cells(**axes):
    """Every combination of the axes' values, named after them."""
    import itertools

    found = {}
    for values in itertools.product(*axes.values()):
        point = dict(zip(axes, values, strict=True))
        full = {"rw": "randread", "bs": 4096, "iodepth": 1, "numjobs": 1, "prep": True, **point}
        found["-".join(map(str, values))] = full
    return found
