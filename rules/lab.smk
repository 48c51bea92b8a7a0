# The guest's parts: built once, kept in the user's cache. Only in the graph while they are missing.
checkpoint build_lab:
    output:
        touch("results/lab.ready"),
    priority: 100_000_000
    shell:
        "{STAGE} scripts.build_lab"
