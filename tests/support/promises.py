"""What a version of a tool promises, as plain data, and which changes of it need a new version.

The rules are those of section 9 of docs/CONTRACT.md. An argument may become wider and a result
narrower under the same ``schemaVersion``; whatever else a client could notice needs a higher one.
Words (titles, descriptions) promise nothing: they are pinned with the listing, byte by byte.

>>> old = {"arguments": {"uri": {"required": True, "type": "string"}}}
>>> breaks(old, {"arguments": {}})
['the argument uri is gone']
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from sightline.calls import families
from sightline.calls.validate import load_schema
from sightline.contract import limits
from sightline.contract.failures import Cancelled, TimedOut
from sightline.contract.settings import Settings
from sightline.tools import search, show_file
from sightline.tools.tool import Tool

__all__ = ["breaks", "promise_of"]

Promise = Mapping[str, Any]

_WORDS = {"$schema", "title", "description"}
_STRUCTURE = {"properties", "items", "required"}
#: What an argument counts as that is left out, where its type does not say it.
_OWN_DEFAULTS: dict[tuple[str, str], int] = {
    ("show_file", "endLine"): show_file._DEFAULT_LINES,
    ("search", "maxTokens"): search._SNIPPET,
}


def promise_of(tool: Tool[Any]) -> dict[str, Any]:
    """All that a client of this version of a tool may rely on."""
    name, family = tool.info.name, tool.info.family
    settings = Settings()
    caps = families.limits_of(
        family,
        name,
        request_timeout_ms=settings.request_timeout_ms,
        max_response_bytes=settings.max_response_bytes,
        context_ms=limits.CONTEXT_TIMEOUT_MS,
    )
    codes = _codes(family)
    return {
        "version": tool.info.schema_version,
        "arguments": dict(_members(load_schema(name))),
        "defaults": _defaults(tool),
        # What the family code answers is text, without a shape that a program could rely on.
        "result": {} if family == "code" else dict(_members(load_schema(name, output=True))),
        "codes": codes,
        "endings": {
            "timeoutMs": caps.timeout_ms,
            "goesOn": caps.goes_on,
            "responseBytes": caps.response_bytes,
            "timedOut": codes.get(TimedOut.__name__, "text"),
            "cancelled": codes.get(Cancelled.__name__, "text"),
        },
    }


def breaks(old: Promise, new: Promise) -> list[str]:
    """What of a promise was changed so that the version has to rise; nothing if it may stay."""
    return [
        *_broken_arguments(old.get("arguments", {}), new.get("arguments", {})),
        *_broken_defaults(old, new),
        *_broken_results(old.get("result", {}), new.get("result", {})),
        *_broken_codes(old.get("codes", {}), new.get("codes", {})),
        *(
            f"how a call ends is another: {key} was {old['endings'][key]}, is {value}"
            for key, value in new.get("endings", {}).items()
            if old["endings"].get(key) != value
        ),
    ]


# Describing


def _members(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every member at any depth by its path, such as ``items[].position.line``."""
    required = schema.get("required", [])
    for name, member in schema.get("properties", {}).items():
        place = f"{path}.{name}" if path else name
        yield place, {"required": name in required, **_rules(member)}
        yield from _members(member, place)
    if "items" in schema:
        place = f"{path}[]"
        yield place, {"required": True, **_rules(schema["items"])}
        yield from _members(schema["items"], place)


def _rules(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: rule for key, rule in schema.items() if key not in _WORDS | _STRUCTURE}


def _defaults(tool: Tool[Any]) -> dict[str, Any]:
    """What an argument that is left out counts as; ``None``: as nothing."""
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(tool.arguments):
        if field.required:
            continue
        made = field.default_factory is not msgspec.NODEFAULT
        found[field.encode_name] = field.default_factory() if made else field.default
    if "pageSize" in found:
        found["pageSize"] = tool.info.page_size
    own = {name: value for (known, name), value in _OWN_DEFAULTS.items() if known == tool.info.name}
    return found | own


def _codes(family: str) -> dict[str, str]:
    """How each failure is spelled, for those that the family knows."""
    found: dict[str, str] = {}
    for kind, ((number, lsp), index, context) in families.CODES.items():
        spelled = {"lsp": f"{number} {lsp}", "index": index, "context": context, "code": None}
        code = spelled[family]
        if code is not None:
            found[kind.__name__] = code
    return found


# Comparing


def _broken_arguments(old: Promise, new: Promise) -> Iterator[str]:
    for name in old.keys() - new.keys():
        yield f"the argument {name} is gone"
    for name, now in new.items():
        before = old.get(name)
        if before is None:
            if now["required"] and (parent := _parent(name)) in {"", *old}:
                yield f"the argument {name} came and is required{f' in {parent}' * bool(parent)}"
        elif now["required"] and not before["required"]:
            yield f"the argument {name} is required now"
        elif not _widens(before, now):
            yield f"the argument {name} takes less, or something else, than it did"


def _broken_defaults(old: Promise, new: Promise) -> Iterator[str]:
    before, now = old.get("defaults", {}), new.get("defaults", {})
    for name in before.keys() & now.keys():
        if before[name] != now[name]:
            yield f"the default of {name} was {before[name]!r}, is {now[name]!r}"
    for name in now.keys() - before.keys():
        if name in old.get("arguments", {}) and old["arguments"][name]["required"]:
            continue  # it may be left out now, which nobody has done so far
        if name in old.get("arguments", {}):
            yield f"{name} has a default now"


def _broken_results(old: Promise, new: Promise) -> Iterator[str]:
    for name in old.keys() - new.keys():
        yield f"the result's {name} is gone"
    for name, now in new.items():
        before = old.get(name)
        if before is None:
            if now["required"] and _parent(name) in {"", *old}:
                yield f"the result's {name} came and is always there"
        elif now["required"] is not before["required"]:
            yield f"the result's {name} is {'always' if now['required'] else 'not always'} there"
        elif not _widens(now, before):
            yield f"the result's {name} may be more, or something else, than it could"


def _broken_codes(old: Promise, new: Promise) -> Iterator[str]:
    for code in sorted(set(old.values()) - set(new.values())):
        yield f"the code {code} is gone"
    for code in sorted(set(new.values()) - set(old.values())):
        yield f"the code {code} came"
    for event in old.keys() & new.keys():
        if old[event] != new[event]:
            yield f"{event} was {old[event]}, is {new[event]}"


def _parent(path: str) -> str:
    if path.endswith("[]"):
        return path.removesuffix("[]")
    return path.rpartition(".")[0]


def _widens(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether all that the old rules allow is allowed by the new ones."""
    return all(_rule_widens(key, old.get(key), new.get(key)) for key in old.keys() | new.keys())


def _rule_widens(key: str, old: Any, new: Any) -> bool:
    if key == "required" or new is None or old == new:
        return True
    if old is None:
        return False
    if key == "type":
        return (
            {old} <= set(new)
            if isinstance(old, str) and isinstance(new, list)
            else (isinstance(old, list) and isinstance(new, list) and set(old) <= set(new))
        )
    if key == "enum":
        return set(old) <= set(new)
    if key.startswith("max"):
        return bool(new >= old)
    if key.startswith("min"):
        return bool(new <= old)
    return False
