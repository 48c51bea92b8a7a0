"""What a figure of fio's can be: the dataset has 64-bit integers, and nothing that is counted is negative."""

MAX_INT = 2**63 - 1
MAX_TIME = MAX_INT // 1000
"""Times are in us up to fio 2.21, and are multiplied."""
COUNTS = frozenset({
    "total_ios", "short_ios", "drop_ios", "io_bytes", "io_kbytes", "bw", "bw_bytes", "iops", "runtime", "bw_min",
    "bw_max", "bw_mean", "bw_dev", "iops_min", "iops_max", "iops_mean", "iops_stddev", "bw_samples", "iops_samples",
    "zone_resets", "min", "max", "mean", "stddev", "N", "elapsed", "job_runtime", "usr_cpu", "sys_cpu", "ctx",
    "majf", "minf", "latency_depth", "latency_target", "latency_target_ns", "latency_window", "latency_window_us",
})  # fmt: skip
