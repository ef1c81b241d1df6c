"""A configuration of TypeScript and all that it extends, each file as TypeScript reads it.

TypeScript makes something of a file that is no JSON, and of a field that holds what it should not.
That is not guessed here: such a file says nothing, and whoever asks is told which ones there are.
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from sightline.contract.uris import above
from sightline.lsp.files.reading import (
    JSON_LIMIT,
    read_json,
    read_text,
    table,
    texts,
    without_comments,
)
from sightline.lsp.typescript.manifests import exported
from sightline.lsp.typescript.path_patterns import joined

__all__ = ["OWN_FOLDER", "Chain", "chain_of", "from_own_folder"]

#: What stands for the folder of the configuration that extends others.
OWN_FOLDER = "${configDir}"
_MAX_EXTENDS = 16
#: Those that hold where TypeScript looks for a configuration.
_CONDITIONS = ("node", "require", "types", "default")

#: Files, nearest first, and what each says.
Chain = list[tuple[str, Mapping[str, Any]]]


def chain_of(path: str, asked: set[str] | None = None, unread: set[str] | None = None) -> Chain:
    """A configuration and all that it extends, nearest first; what is not there says nothing.

    The files that are looked for are added to ``asked``, those that cannot be read to ``unread``.
    """
    reader = _Reader(set() if asked is None else asked, set() if unread is None else unread)
    own = reader.read(path)
    return [(path, own), *reader.bases(path, own, {path}, 0)]


def from_own_folder(name: str, own: str) -> str:
    """A path or pattern that may be spelled from the folder of whoever extends the configuration,
    with any slashes.

    >>> from_own_folder("${configDir}/src", "/ws"), from_own_folder("src", "/ws")
    ('/ws/src', 'src')
    """
    name = name.replace("\\", "/")
    inside = name.removeprefix(OWN_FOLDER)
    return f"{own}/{inside.lstrip('/')}" if name.startswith(OWN_FOLDER) else name


class _Reader:
    def __init__(self, asked: set[str], unread: set[str]) -> None:
        self._asked = asked
        self._unread = unread

    def read(self, path: str) -> Mapping[str, Any]:
        """What a file says. One that is blank, or not there, says nothing rightly."""
        text = read_text(path, JSON_LIMIT)
        if text is None and not os.path.isfile(path):
            return {}
        if text is not None:
            text = without_comments(text)
            if not text.strip():
                return {}
        try:
            value = json.loads(text or "", object_pairs_hook=_together)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            self._unread.add(path)
            return {}
        return value

    def bases(self, path: str, value: Mapping[str, Any], seen: set[str], depth: int) -> Chain:
        """What a configuration extends, nearest first. Packages are looked for upwards.

        Each file counts where it is nearest, and is read once: a list of files that extend each
        other would take a lifetime otherwise.
        """
        if depth > _MAX_EXTENDS:
            return []
        named = value.get("extends")
        names = [named] if isinstance(named, str) else texts(named)
        found: Chain = []
        for name in reversed(names):
            for candidate in self._candidates(os.path.dirname(path), name.replace("\\", "/")):
                self._asked.add(candidate)
                if candidate in seen:
                    break
                if os.path.isfile(candidate):
                    seen.add(candidate)
                    base = self.read(candidate)
                    found.append((candidate, base))
                    found += self.bases(candidate, base, seen, depth + 1)
                    break
        return found

    def _candidates(self, folder: str, name: str) -> Iterator[str]:
        """The files that a name may mean, most wanted first."""
        if name.startswith(("./", "../", "/")):
            yield from _with_ending(joined(folder, name))
            return
        own = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
        for place in above(folder):
            home, target = f"{place}/node_modules/{own}", f"{place}/node_modules/{name}"
            exports = self._manifest(home).get("exports")
            if exports is not None:
                found = exported(exports, f".{name[len(own) :]}", _CONDITIONS)
                yield from (joined(home, each) for each in found)
                continue
            yield target if target.endswith(".json") else f"{target}.json"
            given = self._manifest(target).get("tsconfig")
            if isinstance(given, str):
                yield from _with_ending(joined(target, given))
            yield f"{target}/tsconfig.json"

    def _manifest(self, folder: str) -> Mapping[str, Any]:
        self._asked.add(f"{folder}/package.json")
        return table(read_json(f"{folder}/package.json"))


def _together(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object. Compiler options that are given twice count together, of others the last."""
    found = dict(pairs)
    if len(found) < len(pairs) and "compilerOptions" in found:
        given = [value for name, value in pairs if name == "compilerOptions"]
        found["compilerOptions"] = {
            key: each for value in given for key, each in table(value).items()
        }
    return found


def _with_ending(path: str) -> list[str]:
    return [path] if path.endswith(".json") else [path, f"{path}.json"]
