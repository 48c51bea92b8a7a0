"""JSON Schema validation whose errors name the key, the value, what is allowed and the closest known key.

Two keywords of our own: `unit` (`bytes` or `seconds`: the value is written with a suffix, see units.py) and `flag`
(the value is a boolean, written as true/false or, as fio does, 1/0).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scripts.campaign.errors import Problem, closest
from scripts.campaign.units import parse_bytes, parse_seconds

PARSERS = {"bytes": parse_bytes, "seconds": parse_seconds}


def schema_problems(document: object, schema: Mapping[str, Any], prefix: str = "") -> list[Problem]:
    """Everything in `document` that the schema does not allow.

    Args:
        document: parsed YAML.
        schema: draft 2020-12.
        prefix: key path of the document's root in its file, such as `variants.zloop.device`.
    """
    import jsonschema  # 70 ms: only when something is to be validated

    def check_unit(validator: Any, unit: str, instance: object, schema: Any) -> Iterator[Any]:
        if isinstance(instance, str | int | float) and not isinstance(instance, bool):
            try:
                PARSERS[unit](instance)
            except ValueError as error:
                yield jsonschema.ValidationError(str(error))

    cls = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"unit": check_unit})
    problems: list[Problem] = []
    for error in cls(schema).iter_errors(document):
        problems.extend(_problems(error, prefix))
    return problems


def key_problems(document: object, prefix: str = "") -> list[Problem]:
    """Keys that YAML does not read as texts (`1:`, `true:`, `null:`): nothing here has such a name."""
    found: list[Problem] = []
    if isinstance(document, Mapping):
        for key, value in document.items():
            if not isinstance(key, str):
                said = f"YAML reads this key as a {type(key).__name__}; a name is a text: write it in quotes"
                found.append(Problem(_path(prefix, [str(key)]), key, said))
            found += key_problems(value, _path(prefix, [str(key)]))
    elif isinstance(document, list):
        for place, value in enumerate(document):
            found += key_problems(value, _path(prefix, [place]))
    return found


def _path(prefix: str, parts: Iterable[object]) -> str:
    text = prefix
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _problems(error: Any, prefix: str) -> Iterator[Problem]:
    path = _path(prefix, error.absolute_path)
    value, keyword, limit = error.instance, error.validator, error.validator_value
    if keyword == "anyOf":  # a scalar or a list of it: report the branch the writer meant
        wanted = "array" if isinstance(value, list) else None
        branches: dict[int, list[Any]] = {}
        for inner in error.context:
            branches.setdefault(inner.schema_path[0], []).append(inner)
        for index, schema in enumerate(limit):
            if (schema.get("type") == "array") == (wanted == "array"):
                for inner in branches.get(index, []):
                    yield from _problems(inner, prefix)
        return
    if keyword == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for name in value:
            if name not in known:
                match = closest(name, known)
                listed = "" if match or len(known) > 16 else f"; known: {', '.join(known)}"
                yield Problem(_path(path, [name]), _short(value[name]), f"unknown key{listed}", match)
    elif keyword == "required":
        for name in limit:
            if name not in value:
                about = error.schema["properties"].get(name, {}).get("description", "")
                yield Problem(_path(path, [name]), None, f"missing. {about}".strip())
    elif keyword == "enum":
        allowed = "true or false" if error.schema.get("flag") else "one of " + ", ".join(map(str, limit))
        yield Problem(path, _short(value), allowed, closest(value, map(str, limit)) if isinstance(value, str) else "")
    else:
        yield Problem(path or "(whole file)", _short(value), ALLOWED.get(keyword, _message)(error))


def _short(value: Any) -> Any:
    return value if len(repr(value)) <= 60 else repr(value)[:57] + "..."


def _message(error: Any) -> str:
    return str(error.message)


def _type(error: Any) -> str:
    if "unit" in error.schema:
        try:
            PARSERS[error.schema["unit"]]("?")
        except ValueError as reason:
            return str(reason)
    names = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    words = {
        "object": "a mapping",
        "array": "a list",
        "integer": "a whole number",
        "string": "a text",
        "null": "nothing",
    }
    return "must be " + " or ".join(words.get(name, f"a {name}") for name in names)


ALLOWED = {
    "type": _type,
    "minimum": lambda error: f"must be at least {error.validator_value}",
    "maximum": lambda error: f"must be at most {error.validator_value}",
    "exclusiveMinimum": lambda error: f"must be more than {error.validator_value}",
    "minItems": lambda error: "must not be empty",
    "minProperties": lambda error: "must not be empty",
    "uniqueItems": lambda error: "values of an axis must differ from each other",
    "pattern": lambda error: f"must match {error.validator_value}",
    "unit": _message,
}
