"""Numbers as the field writes them in tables."""


def iops_text(value: float) -> str:
    """2859, 24.5k, 1.52M."""
    for limit, suffix in ((1e6, "M"), (1e4, "k")):
        if value >= limit * 0.99995:
            scaled = value / (1e6 if suffix == "M" else 1e3)
            return f"{significant(scaled)}{suffix}"
    return f"{value:.0f}"


def significant(value: float) -> str:
    """Three significant digits, never an exponent: 24.5, 101, 1954."""
    if value >= 99.95:
        return f"{value:.0f}"
    if value >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}"


def bandwidth_text(bytes_per_s: float) -> str:
    """MB/s, decimal, as fio's second figure: `11.7 MB/s`, `1954 MB/s`."""
    return f"{megabytes(bytes_per_s / 1e6)} MB/s"


def mebibytes_text(bytes_per_s: float) -> str:
    """MiB/s without the unit, as fio's first figure: `869`, `22.1`."""
    return megabytes(bytes_per_s / 2**20)


def megabytes(value: float) -> str:
    """One decimal below 100."""
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def figure_text(unit: str, value: float) -> str:
    """A figure with its unit, unless it is a plain number: `24.5k`, `101 MB/s`, `12.7 us`, `40.2 %`."""
    if unit == "1/s":
        return iops_text(value)
    if unit == "bytes/s":
        return bandwidth_text(value)
    if unit == "ns":
        return f"{significant(value / 1e3)} us"
    return f"{significant(value)} {unit}" if unit != "1" else significant(value)


def miops_text(iops: float) -> str:
    """Millions of IOPS: one decimal from 0.95 on, else two significant digits."""
    value = iops / 1e6
    if value >= 0.95 or value == 0:
        return f"{value:.1f}"
    return f"{value:.2g}" if value >= 0.001 else f"{value:.4f}"


def percent_text(ratio: float, digits: int = 1) -> str:
    """A ratio as a signed difference: 1.1 -> `+10.0%`."""
    value = round((ratio - 1) * 100, digits)
    return f"{value + 0.0:+.{digits}f}%"
