# Parquet -> pictures. Which there are depends on the data, so the folder is the output; plots/index.json says what and why.
rule plot:
    input:
        f"results/{BLK.name}/runs.parquet",
        f"results/{BLK.name}/plan.json",
    output:
        report(
            directory(f"results/{BLK.name}/plots"),
            patterns=["{picture}.svg"],
            caption="captions/picture.rst",
            category="Pictures",
            labels={"campaign": BLK.name, "picture": "{picture}"},
        ),
    priority: 50_000_000
    threads: 1024
    resources:
        device=1,
    shell:
        "{STAGE} scripts.plot --results {WORK:q}/results/{BLK.name}"
