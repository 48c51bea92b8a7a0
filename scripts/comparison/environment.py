"""environment.parquet -> distinct values of every fact, over all runs and by variant."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

Facts = dict[str, list[str]]


def codes(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """A text column as numbers and the texts that they stand for."""
    array = column.dictionary_encode().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # no rows: no chunk
        return np.zeros(0, dtype=np.int64), []
    return array.indices.to_numpy(zero_copy_only=False).astype(np.int64), array.dictionary.to_pylist()


def read_environment(path: Path, samples: pd.DataFrame) -> dict[str, Facts]:
    """Sorted distinct values by variant and name, of the runs in `samples`."""
    table = pq.read_table(path, columns=["run", "name", "value"], read_dictionary=["run", "name", "value"])
    table = table.unify_dictionaries()
    (run, runs), (name, names), (value, texts) = (codes(table[column]) for column in ("run", "name", "value"))
    variants = list(dict.fromkeys(samples["variant"]))
    place = {variant: number for number, variant in enumerate(variants)}
    owner = dict(zip(samples["run"], samples["variant"], strict=True))
    of_run = np.array([place[owner[r]] if r in owner else -1 for r in runs], dtype=np.int64)
    if not len(run):
        return {}
    variant = of_run[run]
    packed = (variant * len(names) + name) * len(texts) + value
    found: dict[str, Facts] = {}
    for number in np.unique(packed[variant >= 0]):
        rest, text = divmod(int(number), len(texts))
        owner_code, fact = divmod(rest, len(names))
        found.setdefault(variants[owner_code], {}).setdefault(names[fact], []).append(texts[text])
    return {variant: {name: sorted(values) for name, values in facts.items()} for variant, facts in found.items()}


def over_all(by_variant: dict[str, Facts]) -> Facts:
    """Distinct values over all variants."""
    found: dict[str, set[str]] = {}
    for facts in by_variant.values():
        for name, values in facts.items():
            found.setdefault(name, set()).update(values)
    return {name: sorted(values) for name, values in found.items()}
