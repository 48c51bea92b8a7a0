"""What names of foreign results mean: axes from job options, and from parts of paths and job names.

A mapping (`mapping:` of a campaign file, or a file of its own) says which named groups of a regular expression are
axes. Four groups have a meaning of their own: `variant`, `sample`, `boot` and `host`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scripts.campaign.units import bytes_as_fio_reads
from scripts.fio.limits import MAX_INT

OPTIONS: Mapping[str, str | None] = {
    # an option of fio that makes a point of its matrix: fio's own default, None where the absence says all
    "rw": "read", "bs": "4096", "iodepth": "1", "numjobs": "1", "ioengine": "psync", "direct": "0",
    "rwmixread": None, "zonemode": None, "fsync": None, "fdatasync": None, "sync": None, "rate": None,
    "rate_iops": None, "random_distribution": None, "percentage_random": None, "hipri": None, "sqthread_poll": None,
    "fixedbufs": None, "nonvectored": None, "thread": None, "rwmixwrite": None,
}  # fmt: skip
ALIASES = {"readwrite": "rw", "blocksize": "bs", "iodepth_low": "", "fadvise": "fadvise_hint", "time_based": ""}
OWN = ("variant", "sample", "boot", "host")
ONE_VARIANT = "imported"


class MappingError(Exception):
    """A mapping can not be used; the text names the key."""


@dataclass(frozen=True)
class Meaning:
    """What one group of jobs stands for.

    Attributes:
        variant: what is compared. axes: by name. sample, boot, host: None where names do not say.
    """

    variant: str
    axes: Mapping[str, Any]
    sample: int | None = None
    boot: str | None = None
    host: str | None = None


@dataclass(eq=False)
class Names:
    """A compiled mapping.

    Args:
        keys: `path`, `job` (regular expressions with named groups), `variant` (an axis that is the variant), `axes`
            (names of job options that are axes besides, or instead of, the usual ones).

    Raises:
        MappingError: not a regular expression, or one without named groups.
    """

    keys: Mapping[str, Any]
    patterns: list[tuple[str, re.Pattern[str]]] = field(default_factory=list)
    remembered: dict[int, tuple[Mapping[str, Any], dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in ("path", "job"):
            if key in self.keys:
                try:
                    pattern = re.compile(str(self.keys[key]))
                except re.error as error:
                    raise MappingError(f"mapping.{key} = {self.keys[key]!r}: no regular expression ({error})") from None
                if not pattern.groupindex:
                    raise MappingError(
                        f"mapping.{key} = {self.keys[key]!r}: has no named group such as (?P<variant>..)"
                    )
                self.patterns.append((key, pattern))

    def of(self, name: str, job: str, options: Mapping[str, Any], unknown: bool = False) -> Meaning:
        """Meaning of a job.

        Args:
            name: path relative to the input. job: fio's job name. options: job over global; an
                absent one has fio's default, or with `unknown` no known value.

        Raises:
            MappingError: a pattern does not match; the text names it.
        """
        groups: dict[str, str] = {}
        for key, pattern in self.patterns:
            text = name if key == "path" else job
            match = pattern.search(text)
            if not match:
                raise MappingError(f"mapping.{key} does not match {text!r}")
            groups |= {group: value for group, value in match.groupdict().items() if value is not None}
        own = {group: groups.pop(group, None) for group in OWN}
        axes = self.axes_of(options, unknown)
        if groups or self.keys.get("variant"):  # else the very same object for all runs with the same options
            axes = {**axes, **{group: number(v) for group, v in groups.items()}}
        variant = own["variant"]
        chosen = self.keys.get("variant")
        if chosen:
            if chosen not in axes:
                raise MappingError(f"mapping.variant = {chosen!r}: {name} has no such axis; there is {', '.join(axes)}")
            variant = str(axes.pop(chosen))
        if variant is None:
            first, _, rest = name.partition("/")
            variant = first if rest else ONE_VARIANT
        try:
            sample = int(own["sample"]) if own["sample"] else None
            if sample is not None and not 0 <= sample <= MAX_INT:
                raise ValueError
        except ValueError:
            raise MappingError(f"the group `sample` is {own['sample']!r} in {name}: not a whole number") from None
        return Meaning(variant, axes, sample, own["boot"], own["host"])

    def axes_of(self, options: Mapping[str, Any], unknown: bool) -> dict[str, Any]:
        """`options_of`, once for each object: rows.py gives the same one to all runs with the same options."""
        known = self.remembered.get(id(options))
        if known is None or known[0] is not options:
            axes = options_of(options, self.keys.get("axes"), not unknown)
            known = self.remembered[id(options)] = options, axes
        return known[1]


def options_of(
    options: Mapping[str, Any], wanted: Sequence[str] | None = None, defaults: bool = True
) -> dict[str, Any]:
    """The options that make a point of a matrix, with fio's defaults for those that always have a value."""
    named = {ALIASES.get(key, key): value for key, value in options.items()}
    for flag in ("direct", "buffered"):  # a flag given without a value is on
        if named.get(flag) == "":
            named[flag] = "1"
    if "direct" not in named and "buffered" in named:
        named["direct"] = "0" if str(named["buffered"]) == "1" else "1"
    mixed_sizes = next((named[key] for key in ("bssplit", "bsrange") if key in named), None)
    if mixed_sizes is not None:
        named["bs"] = str(mixed_sizes)
    found: dict[str, Any] = {}
    for key, default in OPTIONS.items():
        value = named.get(key, default if defaults else None)
        if value is not None:
            found[key] = canonical(key, value)
    for key in wanted or ():
        if key in named:
            found[key] = canonical(key, named[key])
    return found


def canonical(key: str, value: Any) -> Any:
    """One spelling for one value: `4k`, `4K` and `4096` of bs are 4096, `randrw` stays, numbers are numbers."""
    if isinstance(value, list):
        value = value[-1] if value else ""  # of an option given several times fio takes the last
    text = str(value if value is not None else "").strip()
    if key in ("bs", "size", "io_size", "offset"):
        parts = set(text.split(","))  # an empty part has fio's default: `64k,` reads 64k and writes 4k
        if len(parts) == 1 and text:
            try:
                size = bytes_as_fio_reads(parts.pop())
            except ValueError:
                return text
            return size if size <= MAX_INT else text
        return text
    if key == "rw":
        return {"readwrite": "rw"}.get(text.partition(":")[0], text.partition(":")[0])
    return number(text)


def number(text: str) -> Any:
    """An int where the text is one."""
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text
