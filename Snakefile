# blkcampaign: snakemake --cores 1 --config campaign=NAME
# What the rules ask is answered in scripts/workflow/start.py; what the stages do stands in docs/architecture.md.


include: "rules/common.smk"


if BLK.imported:

    include: "rules/import.smk"

else:

    include: "rules/lab.smk"
    include: "rules/device.smk"
    include: "rules/fio.smk"
    include: "rules/parse.smk"


include: "rules/compare.smk"
include: "rules/plot.smk"
include: "rules/report.smk"


rule all:
    default_target: True
    input:
        [] if BLK.imported else measured,
        tables,
        reported,


onstart:
    begin()


onerror:
    partial_tables()
