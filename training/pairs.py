"""From the files and the history of one repository to pairs: a query and the code that answers it.

Kinds of pairs:

    d   a sentence of a doc         -> the declaration without its doc
    n   a name, as words            -> the declaration without that name
    i   a comment inside of code    -> the lines around it, without the comment
    c   what a commit says          -> a place it changed, as it was before
    p   the title of a merged pull request -> the same
    h   a heading                   -> the section below it

The code side looks like a chunk of the index at run time: a path, a qualified name, a text.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sightline.index.cutting.chunks import Chunk
from sightline.index.cutting.cut import cut
from sightline.index.reading.roles import Role, role_of
from training.gitstore import Commit
from training.guards import is_copied_in, query_key
from training.texts import change_query, comment_lines, first_sentence, split_doc

__all__ = [
    "CODE",
    "LIMITS",
    "Pair",
    "chunk_text",
    "choose",
    "from_commit",
    "from_file",
    "wanted",
    "without_name",
]

#: Languages whose declarations are mined.
CODE = frozenset(
    """
    python go typescript tsx javascript java rust c cpp csharp ruby php kotlin swift scala bash
    """.split()
)
#: At most so many pairs of a kind from one repository, so that no project dominates.
LIMITS = {"d": 16_000, "n": 6_000, "i": 8_000, "c": 6_000, "p": 3_000, "h": 500}
_MAX_TEXT = 3_000
_MIN_WORDS = 8
_MAX_FILES = 6
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_NAMED = frozenset("function method class struct interface trait enum type macro module".split())
_HEADING_NAME = re.compile(
    r"(?:\b(?:class|struct|interface|trait|impl|enum|def|func|fn|function|type|namespace|object)\s+"
    r"(?:\([^)]*\)\s*)?|[\s*&:])([A-Za-z_]\w{2,})\s*(?:[(<{:\[=]|$)"
)


class Pair(NamedTuple):
    kind: str
    query: str
    path: str
    #: The qualified name of the declaration, or nothing.
    name: str
    body: str
    language: str


def wanted(path: str, language: str, head: bytes) -> bool:
    """Whether a file is source written for this project."""
    if is_copied_in(path):
        return False
    role = role_of(path, language, head)
    return role is Role.SOURCE or (
        role is Role.DOCS and language in ("markdown", "restructuredtext")
    )


def chunk_text(data: bytes, chunk: Chunk) -> str:
    """A chunk's own text."""
    return b"\n".join(data[start:end] for start, end in chunk.spans).decode("utf-8", "replace")


def from_file(path: str, data: bytes, language: str) -> Iterator[Pair]:
    """The pairs of one file."""
    for chunk in cut(data, language):
        text = chunk_text(data, chunk)
        if language in ("markdown", "restructuredtext"):
            yield from _section(path, chunk, text, language)
        elif chunk.name and chunk.kind in _NAMED:
            yield from _declaration(path, chunk, text, language)
            yield from _comments(path, chunk, text, language)


def _declaration(path: str, chunk: Chunk, text: str, language: str) -> Iterator[Pair]:
    parted = split_doc(text, language)
    qualified = f"{chunk.container}.{chunk.name}".lstrip(".")
    if _long_enough(parted.code):
        more = _choice(f"{path}:{qualified}") % 3 == 0
        query = without_name(first_sentence(parted.doc, more=more), chunk.name)
        if len(query.split()) >= 3:
            yield Pair("d", query, path, qualified, parted.code[:_MAX_TEXT], language)
    words = [word.lower() for word in _PART.findall(chunk.name)]
    if 2 <= len(words) <= 10 and len(chunk.name) >= 6:
        body = re.sub(rf"\b{re.escape(chunk.name)}\b", " ", text)
        if _long_enough(body):
            yield Pair("n", " ".join(words), path, chunk.container, body[:_MAX_TEXT], language)


def _comments(path: str, chunk: Chunk, text: str, language: str) -> Iterator[Pair]:
    """Each comment with the lines around it, within its chunk."""
    lines = text.split("\n")
    if len(lines) < 6:
        return
    qualified = f"{chunk.container}.{chunk.name}".lstrip(".")
    for block in comment_lines(lines, language):
        if block.first < 2 or len(block.text.split()) < 4:
            continue  # above the declaration: a doc
        around = (
            lines[max(0, block.first - 8) : block.first] + lines[block.last + 1 : block.last + 21]
        )
        body = "\n".join(around)
        if _long_enough(body) and block.text not in body:
            yield Pair("i", block.text, path, qualified, body[:_MAX_TEXT], language)


def _section(path: str, chunk: Chunk, text: str, language: str) -> Iterator[Pair]:
    body = text.replace(chunk.name, " ", 1) if chunk.name else ""
    if len(chunk.name.split()) >= 2 and chunk.name.isascii() and len(body.split()) >= 20:
        yield Pair("h", chunk.name, path, chunk.container, body[:_MAX_TEXT], language)


def from_commit(commit: Commit, languages: dict[str, str]) -> Iterator[Pair]:
    """The pairs of one commit: at most one for each of two files. ``languages``: of known paths."""
    changed = {c.path: c for c in reversed(commit.changes) if c.path in languages}
    if not 1 <= len(changed) <= _MAX_FILES:
        return
    more = _choice(commit.id) % 2 == 0
    query = change_query(commit.subject, commit.body, merge=commit.merge, more=more)
    if not query:
        return
    ordered = sorted(changed, key=lambda path: _choice(commit.id + path))
    for path in ordered[:2]:
        places = [c for c in commit.changes if c.path == path]
        # Above the first declaration stand licences and imports; git shows no heading there.
        places = [c for c in places if c.heading] or places
        place = places[_choice(path + commit.id) % len(places)]
        if _long_enough(place.before):
            name = _name_in(place.heading)
            kind = "p" if commit.merge else "c"
            yield Pair(kind, query, path, name, place.before[:_MAX_TEXT], languages[path])


def choose(pairs: Iterable[Pair]) -> list[Pair]:
    """Without repetitions, and no more of a kind than ``LIMITS`` says; always the same choice."""
    seen: set[bytes] = set()
    queries: dict[tuple[str, str], int] = {}
    kept: dict[str, list[tuple[int, Pair]]] = {kind: [] for kind in LIMITS}
    for pair in pairs:
        key = query_key(pair.query)
        twin = hashlib.blake2b(f"{key}\0{pair.body}".encode(), digest_size=12).digest()
        count = queries[pair.kind, key] = queries.get((pair.kind, key), 0) + 1
        if twin in seen or (count > 3 and pair.kind not in "cp"):
            continue
        seen.add(twin)
        kept[pair.kind].append((_choice(f"{pair.path}\0{pair.name}\0{key}"), pair))
    chosen: list[Pair] = []
    for kind, numbered in kept.items():
        numbered.sort(key=lambda row: row[0])
        chosen += [pair for _, pair in numbered[: LIMITS[kind]]]
    return sorted(chosen, key=lambda pair: (pair.path, pair.name, pair.kind, pair.query))


def _long_enough(body: str) -> bool:
    return len(_WORD.findall(body[:2_000])) >= _MIN_WORDS


def without_name(query: str, name: str) -> str:
    """A query without the name that it is about: Go's docs begin with it."""
    own = name.replace("_", "").lower()
    words = query.split()
    kept = [w for w in words if re.sub(r"\W|_", "", w).lower() != own]
    if len(kept) < len(words) and kept and kept[0].lower() in ("is", "are", "was"):
        kept = kept[1:]
    return " ".join(kept)


def _name_in(heading: str) -> str:
    found = _HEADING_NAME.search(heading)
    return found[1] if found else ""


def _choice(text: str) -> int:
    """A number that only the text decides."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big")
