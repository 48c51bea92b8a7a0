# blkcampaign: snakemake --cores 1 --config campaign=NAME
# What the rules ask is answered in scripts/workflow/start.py; what the stages do stands in docs/architecture.md.


include: "rules/common.smk"
include: "rules/lab.smk"
include: "rules/device.smk"
include: "rules/fio.smk"
include: "rules/parse.smk"
include: "rules/compare.smk"


rule all:
    default_target: True
    input:
        measured,
        tables,


onstart:
    begin()


onerror:
    partial_tables()
