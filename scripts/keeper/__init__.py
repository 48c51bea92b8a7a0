"""The owner of kernel state: one process per Snakemake process, holding one live session."""
