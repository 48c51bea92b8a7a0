"""What the Snakefile does in Python: start, guard, owner, finished runs, and cures for Snakemake's own faults."""
