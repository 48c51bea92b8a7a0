"""fio: the argv of a workload, and what fio writes."""
