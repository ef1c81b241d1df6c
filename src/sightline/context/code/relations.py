"""What belongs to a declaration: the class around it, and the declarations that it calls.

Calls are found by their spelling, a name before a bracket, and resolved among the names that the
index declares: in the same class first, then in the same file, then anywhere if so few declare it
that the guess is a good one. There is no type inference; a wrong guess costs a signature.
"""

import re
from collections.abc import Iterator

from sightline.context.code.corpus import Corpus
from sightline.index.cutting.chunks import Chunk
from sightline.index.reading.roles import Role

__all__ = ["calls_of", "header_of"]

_CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
_RECEIVER = re.compile(r"([A-Za-z_]\w*)(?:\.|->|::)$")
_SELF = frozenset(("self", "cls", "this", "super", "Self"))
_NOT_CALLS = frozenset(
    "if for while switch return catch def function fn func match elif and or not in is with "
    "assert print super len range str int float bool list dict set tuple isinstance issubclass "
    "getattr setattr hasattr type sizeof repr sorted iter next zip map filter min max sum any all "
    "enumerate open id hash vars dir callable abs round format".split()
)
_CLASS_LIKE = frozenset("class interface struct trait enum union namespace module".split())
_CALLABLE = frozenset(
    "function method class struct interface trait macro constant variable type".split()
)
_MAX_NAMES = 40
_MAX_TEXT = 12_000
_MAX_RECEIVER = 80
#: A name that more declare outside the caller's file says too little.
_FEW = 3


def header_of(corpus: Corpus, number: int) -> int | None:
    """The chunk of the class that a method is in."""
    chunk = corpus.chunk(number)
    if not chunk.container:
        return None
    outer, _, name = chunk.container.rpartition(".")
    for other in _in_file(corpus, number):
        found = corpus.chunk(other)
        if found.name == name and found.container == outer and found.kind in _CLASS_LIKE:
            return other
    return None


def calls_of(corpus: Corpus, number: int) -> list[tuple[int, int]]:
    """The chunks of the declarations that a chunk calls, each with how sure that is, in tenths."""
    known = corpus.calls.get(number)
    if known is None:
        chunk = corpus.chunk(number)
        found: dict[int, int] = {}
        for receiver, name in _names(corpus.text(number).full[:_MAX_TEXT], chunk):
            for target, sure in _resolve(corpus, number, chunk, receiver, name):
                if target != number:
                    found.setdefault(target, sure)
        known = corpus.calls[number] = list(found.items())
    return known


def _names(text: str, chunk: Chunk) -> Iterator[tuple[str, str]]:
    """What is called, after what it is called on."""
    seen: set[tuple[str, str]] = set()
    for match in _CALL.finditer(text):
        if match[1] in _NOT_CALLS:
            continue
        before = _RECEIVER.search(text, max(0, match.start() - _MAX_RECEIVER), match.start())
        name = (before[1] if before else "", match[1])
        if name in seen or name == ("", chunk.name):
            continue
        seen.add(name)
        yield name
        if len(seen) >= _MAX_NAMES:
            return


def _resolve(
    corpus: Corpus, number: int, chunk: Chunk, receiver: str, name: str
) -> Iterator[tuple[int, int]]:
    declared = corpus.declaring(name)
    if not declared:
        return
    file = corpus.file_of(number)
    here = [other for other in declared if corpus.file_of(other) == file]
    here = [other for other in here if _is_callable(corpus.chunk(other), name)]
    if receiver in _SELF and chunk.container:
        own = [other for other in here if corpus.chunk(other).container == chunk.container]
        if own:
            yield own[0], 10
            return
    if not receiver:
        top = [other for other in here if not corpus.chunk(other).container]
        if top:
            yield top[0], 10
            return
    elsewhere = [
        other
        for other in declared
        if other not in here
        and corpus.role(other) in (Role.SOURCE, corpus.role(number))
        and _is_callable(corpus.chunk(other), name)
    ]
    chosen = here or elsewhere
    if receiver and not here:
        # ``module.function``: a file of that name is a better guess than any other.
        chosen = [o for o in elsewhere if _stem(corpus.path(o)) == receiver.lower()] or elsewhere
    if len(chosen) <= _FEW:
        for other in chosen:
            yield other, 6 if len(chosen) == 1 else 3


def _is_callable(chunk: Chunk, name: str) -> bool:
    """Whether the chunk itself is what the name declares, and not a field in it."""
    return chunk.name == name and chunk.kind in _CALLABLE


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def _in_file(corpus: Corpus, number: int) -> Iterator[int]:
    file = corpus.file_of(number)
    first = corpus.snapshot.chunk_first
    return iter(range(int(first[file]), int(first[file + 1])))
