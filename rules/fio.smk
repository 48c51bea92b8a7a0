# One measurement: fio's raw output, untouched, and everything that could explain it.
rule run_fio:
    input:
        "results/session/{run}.json",
    output:
        fio="results/runs/{run}/fio.json",
        run="results/runs/{run}/run.json",
        stderr="results/runs/{run}/stderr.txt",
    priority: lambda wildcards: BLK.priority("run", wildcards.run)
    threads: 1024
    resources:
        device=1,
    shell:
        "{CLIENT} run {wildcards.run} {input}"
