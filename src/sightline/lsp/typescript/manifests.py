"""What the ``exports`` of a Node package's manifest names, by the conditions that hold."""

from collections.abc import Collection, Iterator, Mapping

from sightline.lsp.files.reading import table

__all__ = ["applying", "exported"]

_DEEPEST = 8


def applying(value: object, conditions: Collection[str], depth: int = 0) -> Iterator[str]:
    """What of an entry of ``exports`` holds. What is not there is passed over by servers."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from applying(each, conditions, depth + 1)
    else:
        for key, each in table(value).items():
            if key.partition("@")[0] in conditions or key in conditions:
                yield from applying(each, conditions, depth + 1)


def exported(exports: object, name: str, conditions: Collection[str]) -> list[str]:
    """What ``exports`` leads a path in its package to. Of patterns the longest counts.

    >>> exported({"./*": "./conf/*.json"}, "./strict", ()), exported("./a.json", ".", ())
    (['./conf/strict.json'], ['./a.json'])
    """
    keyed = exports if isinstance(exports, Mapping) else {".": exports}
    if name in keyed and "*" not in name:
        return list(applying(keyed[name], conditions))
    for pattern in sorted(keyed, key=lambda each: (-len(each.partition("*")[0]), each)):
        before, star, after = pattern.partition("*")
        middle = name[len(before) : len(name) - len(after)]
        if star and middle and name == f"{before}{middle}{after}":
            found = applying(keyed[pattern], conditions)
            return [target.replace("*", middle) for target in found]
    return []
