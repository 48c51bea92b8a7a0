# Tables and pictures -> report.html.
def reported(wildcards):
    """The report. A function: while the lab is missing there is no plan, and nothing may ask for what is made from it."""
    planned()
    return f"results/{BLK.name}/report.html"


rule report:
    input:
        f"results/{BLK.name}/runs.parquet",
        f"results/{BLK.name}/plan.json",
        tables,
        f"results/{BLK.name}/plots",
    output:
        report(
            f"results/{BLK.name}/report.html",
            caption="captions/report.rst",
            category="Report",
            labels={"campaign": BLK.name},
        ),
    priority: 50_000_000
    threads: 1024
    resources:
        device=1,
    params:
        file=str(Path(BLK.path).resolve()),
        command=BLK.command,
    shell:
        "{STAGE} scripts.report --results {WORK:q}/results/{BLK.name} --campaign-file {params.file:q}"
        " --command {params.command:q}"
