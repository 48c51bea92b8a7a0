# Parquet -> tables and pictures.
TABLES = sorted(BLK.keys.get("tables", {})) or ["benchstat"]


def tables(wildcards):
    """Every table as text, and the summary for a commit message."""
    planned()
    return [f"results/{BLK.name}/tables/{name}.txt" for name in [*TABLES, "summary"]]


rule compare:
    input:
        f"results/{BLK.name}/runs.parquet",
        plan=f"results/{BLK.name}/plan.json",
    output:
        expand(f"results/{BLK.name}/tables/{{table}}.txt", table=[*TABLES, "summary"]),
        [
            report(
                f"results/{BLK.name}/tables/{table}.html",
                caption="captions/table.rst",
                category="Tables",
                labels={"campaign": BLK.name, "table": table},
            )
            for table in TABLES
        ],
    priority: 50_000_000
    threads: 1024
    resources:
        device=1,
    shell:
        "{STAGE} scripts.compare --results {WORK:q}/results/{BLK.name}"
