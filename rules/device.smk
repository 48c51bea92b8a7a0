# A device's life. The session file stands for "loaded now"; its owner is the keeper, never the file.
rule prepare_device:
    output:
        temp("results/session/{run}.json"),
    priority: lambda wildcards: BLK.priority("prepare", wildcards.run)
    threads: 1024
    resources:
        device=1,
    params:
        spec=lambda wildcards: BLK.spec(wildcards.run),
        host=lambda wildcards: BLK.host_json,
        order=lambda wildcards: BLK.order_json(wildcards.run),
    shell:
        "{CLIENT} prepare {wildcards.run} {output} {params.spec:q} {params.host:q} {params.order:q}"


rule unload_device:
    input:
        session="results/session/{run}.json",
        fio="results/runs/{run}/fio.json",
    output:
        "results/runs/{run}/unload.json",
    priority: lambda wildcards: BLK.priority("unload", wildcards.run)
    threads: 1024
    resources:
        device=1,
    shell:
        "{CLIENT} unload {wildcards.run} {input.session}"
