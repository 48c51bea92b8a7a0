# Run directories -> Parquet: one batch job for a campaign, over the explicit list of plan.json.
# plan.json's time says whether finished runs have to be parsed again (scripts/workflow/finished.py).
rule parse_runs:
    input:
        measured,
        plan=f"results/{BLK.name}/plan.json",
    output:
        f"results/{BLK.name}/runs.parquet",
        f"results/{BLK.name}/environment.parquet",
        f"results/{BLK.name}/latency.parquet",
    priority: 50_000_000
    threads: 1024
    resources:
        device=1,
    shell:
        "{STAGE} scripts.parse_runs --work {WORK:q} --campaign {BLK.name}"
