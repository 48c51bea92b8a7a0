# Foreign results -> Parquet: nothing is measured. input.json names the files and what their names mean.
rule import_results:
    input:
        f"results/{BLK.name}/input.json",
    output:
        f"results/{BLK.name}/runs.parquet",
        f"results/{BLK.name}/environment.parquet",
        f"results/{BLK.name}/latency.parquet",
        f"results/{BLK.name}/plan.json",
    params:
        results=f"{WORK}/results/{BLK.name}",
    shell:
        "cd {WORK:q} && PYTHONPATH={workflow.basedir:q} {PYTHON} -m scripts.import_results --results {params.results:q}"
