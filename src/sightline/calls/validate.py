"""Arguments against a tool's schema, with issues that a model can act on.

An issue names the place, the broken rule and what the schema asks for. It never repeats the value
that was sent: that could be long, and it could be somebody's secret.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sightline.contract.canonical import JsonValue
from sightline.contract.failures import InvalidArguments
from sightline.contract.limits import MAX_SCHEMA_ISSUES

if TYPE_CHECKING:
    import jsonschema_rs

__all__ = ["Validator", "load_schema"]

_SCHEMAS = Path(__file__).parent.parent / "schemas/tools"
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,31}")
_MAX_NAMES = 8
_MAX_REMEMBERED = 256
_MAX_REMEMBERED_BYTES = 1_024
_encode = msgspec.json.Encoder().encode


def load_schema(tool: str, *, output: bool = False) -> dict[str, Any]:
    """A tool's schema file, parsed."""
    name = f"{tool}.output.json" if output else f"{tool}.json"
    text = (_SCHEMAS / name).read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


class Validator:
    """Checks and converts the arguments of one tool."""

    def __init__(self, tool: str, arguments: type[msgspec.Struct]) -> None:
        import jsonschema_rs  # needed by the first call, and not by the first message

        self._schema = load_schema(tool)
        self._validator = jsonschema_rs.validator_for(self._schema)
        self._arguments = arguments
        #: Arguments that passed, by their very bytes: the same words need no second look.
        self._passed: dict[bytes, msgspec.Struct] = {}
        #: What passed last: a call is looked at twice.
        self._last: tuple[dict[str, Any], msgspec.Struct] | None = None

    def check(self, arguments: dict[str, Any]) -> msgspec.Struct:
        """The typed arguments, or ``InvalidArguments`` with at most ten issues."""
        if self._last is not None and self._last[0] is arguments:
            return self._last[1]
        try:
            spelled = _encode(arguments)
        except UnicodeEncodeError:
            raise InvalidArguments("a text must hold whole characters only") from None
        known = self._passed.get(spelled)
        if known is None:
            known = self._check(arguments)
            if len(spelled) <= _MAX_REMEMBERED_BYTES:
                if len(self._passed) >= _MAX_REMEMBERED:
                    self._passed.clear()
                self._passed[spelled] = known
        if len(spelled) <= _MAX_REMEMBERED_BYTES:
            self._last = (arguments, known)
        return known

    def _check(self, arguments: dict[str, Any]) -> msgspec.Struct:
        if not self._validator.is_valid(arguments):
            told = _shortened(arguments, self._schema)
            issues = [_issue(error) for error in self._validator.iter_errors(told)]
            issues.sort(key=lambda i: (str(i["path"]), str(i["keyword"]), str(i["schemaPath"])))
            first = issues[0]
            where = str(first["path"]) or "arguments"
            raise InvalidArguments(f"{where} {first['message']}", issues=issues[:MAX_SCHEMA_ISSUES])
        try:
            return msgspec.convert(arguments, self._arguments)
        except msgspec.ValidationError:  # 1.0 for 1, which the schema allows
            return msgspec.convert(_whole_numbers(arguments), self._arguments)


def _shortened(value: Any, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - parsed JSON
    """As much of the value as decides its issues: of an array, what shows that it is too long.

    Every wrong item is an issue of its own, and a message has room for half a million.
    """
    if isinstance(value, list):
        items = schema.get("items", {})
        return [_shortened(item, items) for item in value[: schema.get("maxItems", 0) + 1]]
    if isinstance(value, dict):
        if schema.get("type") != "object":
            return {}
        known = schema.get("properties", {})
        return {name: _shortened(item, known.get(name, {})) for name, item in value.items()}
    return value


def _issue(error: "jsonschema_rs.ValidationError") -> Mapping[str, JsonValue]:
    schema_path = [str(part) for part in error.schema_path]
    keyword = schema_path[-1] if schema_path else ""
    return {
        "path": "".join(f"/{part}" for part in error.instance_path),
        "keyword": keyword,
        "message": _message(error, keyword),
        "schemaPath": "#" + "".join(f"/{part}" for part in schema_path),
    }


def _message(error: "jsonschema_rs.ValidationError", keyword: str) -> str:
    word = _WORDS.get(keyword)
    return word(error.kind) if word else f"must satisfy {keyword}"


def _unexpected(kind: Any) -> str:  # noqa: ANN401
    """Names that look like names are repeated; anything else could be a path or a secret."""
    names = sorted(str(name) for name in kind.unexpected)
    shown = [name for name in names if _NAME.fullmatch(name)][:_MAX_NAMES]
    others = [f"{len(names) - len(shown)} other members"] if len(names) > len(shown) else []
    return f"must not have {', '.join([*shown, *others])}"


#: What an issue says, per keyword. The argument is the library's description of the error, one of
#: many classes that have only these members in common with the keyword.
_WORDS: dict[str, Callable[[Any], str]] = {
    "required": lambda kind: f"must have {kind.property}",
    "additionalProperties": _unexpected,
    "type": lambda kind: f"must be {' or '.join(kind.types)}",
    "minimum": lambda kind: f"must be {kind.limit} or more",
    "maximum": lambda kind: f"must be {kind.limit} or less",
    "minLength": lambda kind: f"must have {kind.limit} or more characters",
    "maxLength": lambda kind: f"must have at most {kind.limit} characters",
    "minItems": lambda kind: f"must have {kind.limit} or more items",
    "maxItems": lambda kind: f"must have at most {kind.limit} items",
    "pattern": lambda kind: (
        "must not be blank" if kind.pattern == r"\S" else f"must match {kind.pattern}"
    ),
    "enum": lambda kind: f"must be one of {json.dumps(kind.options)}",
}


def _whole_numbers(value: Any) -> Any:  # noqa: ANN401 - parsed JSON
    """JSON Schema calls 1.0 an integer; Python needs to be told."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    return value
