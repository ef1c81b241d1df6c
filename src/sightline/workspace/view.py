"""The immutable view that one call runs on, and the snapshot key it yields.

A view is the roots, the gate and the epochs at the moment a call began. Everything a tool learns
about files goes through it. Two calls with equal views and equal questions have equal answers.
"""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from sightline.contract import keys
from sightline.contract.failures import NotFound
from sightline.contract.redaction import redact_paths
from sightline.contract.source import SourceFile
from sightline.contract.uris import above
from sightline.workspace.gate import Gate, GatedFile
from sightline.workspace.roots import RootSet

__all__ = [
    "DIAGNOSTICS_EPOCHS",
    "DOCUMENT_DIAGNOSTICS_EPOCHS",
    "SOURCE_EPOCHS",
    "Epoch",
    "Epochs",
    "View",
    "ViewOutdated",
    "text_digest48",
]


_PUNCTUATION = re.compile(r"[^\w./+@-]")
_MAX_KEPT = 16
_MAX_KEPT_BYTES = 256 << 10


class ViewOutdated(Exception):
    """A document changed although nothing announced it. The view must be begun again."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Epoch(Enum):
    """What an answer can depend on. The order is the order inside a snapshot key."""

    ROOTS = "roots"
    TEXT = "text"
    FS = "fs"
    DIAGNOSTICS = "diagnostics"


SOURCE_EPOCHS = (Epoch.ROOTS, Epoch.TEXT, Epoch.FS)
#: Of one document: they also change when a source changes its mind though no file changed.
DOCUMENT_DIAGNOSTICS_EPOCHS = tuple(Epoch)
DIAGNOSTICS_EPOCHS = (Epoch.ROOTS, Epoch.FS, Epoch.DIAGNOSTICS)


class Epochs(Struct, frozen=True):
    """Four counters. Each rises by one per observed change and never falls."""

    roots: int
    text: int
    fs: int
    diagnostics: int

    def select(self, kinds: Sequence[Epoch]) -> tuple[int, ...]:
        return tuple([getattr(self, kind._value_) for kind in kinds])


class Kept(NamedTuple):
    """A document as it was read, for the next question about it."""

    file: GatedFile
    raw: bytes
    document: SourceFile


class View(Struct, frozen=True, eq=False):
    gate: Gate
    epochs: Epochs
    roots_key: str
    #: The names in the machine's root folder: what an absolute path of this machine starts with.
    top_folders: frozenset[str] = frozenset()
    #: Texts that an editor has not saved, by real path. They stand for the files.
    unsaved: Mapping[str, str | None] = {}
    #: The roots that are no folders any more, as they were given: their files are not known.
    gone: tuple[str, ...] = ()
    #: What each document read in this view was: a fingerprint per URI.
    _seen: dict[str, int] = {}
    #: Documents of which only the bytes have to be compared when they are asked about again.
    _kept: dict[str, "Kept"] = {}

    def document(self, uri: str) -> SourceFile:
        """The text of a document, gated.

        It is read at every call: a store through a memory mapping is announced by nobody, and the
        document that is asked about must not be the one that is stale.
        """
        kept = self._kept.get(uri)
        if kept is not None and self.gate.still_holds(kept.file, kept.raw):
            return kept.document
        file = self.gate.admit(uri)
        if file.path in self.unsaved:
            return SourceFile(file.uri, file.path, self._unsaved_text(file))
        raw = self.gate.read(file)
        document = SourceFile(file.uri, file.path, decode(raw))
        fingerprint = hash(document.text)
        if self._seen.setdefault(file.uri, fingerprint) != fingerprint:
            raise ViewOutdated(file.path)
        if len(raw) <= _MAX_KEPT_BYTES:
            if len(self._kept) >= _MAX_KEPT:
                self._kept.clear()
            self._kept[uri] = Kept(file, raw, document)
        return document

    def _unsaved_text(self, file: GatedFile) -> str:
        with self.gate.open(file):  # the file behind an unsaved text is gated like any other
            text = self.unsaved[file.path]
        if text is None:
            raise NotFound("the document is too large to open")
        return text

    def has_read(self, document: SourceFile) -> bool:
        """Whether a document is kept as it was read in this view."""
        kept = self._kept.get(document.uri)
        return kept is not None and kept.document is document

    def has_still(self, uri: str, document: SourceFile) -> bool:
        """Whether a document of this view is kept, and has on disk the bytes it was read with."""
        kept = self._kept.get(uri)
        return (
            kept is not None
            and kept.document is document
            and self.gate.has_bytes(kept.file, kept.raw)
        )

    def relative(self, path: str) -> str:
        """A real path as people read it: from its root, with the root's name if there are more."""
        root = self.gate.roots.containing(path)
        if root is None:
            return path.rpartition("/")[2]
        inside = path[len(root.real) + 1 :]
        return inside if len(self.gate.roots.roots) == 1 else f"{root.name}/{inside}"

    def snapshot_key(self, request: str, kinds: Sequence[Epoch]) -> str:
        epochs = keys.epoch_string(self.roots_key, self.epochs.select(kinds))
        return keys.snapshot_key(request, epochs)

    def redact(self, text: str) -> str:
        """Somebody else's text with the paths that must not be shown reduced to names."""
        if "/" not in text:
            return text
        return redact_paths(
            text, self.gate.allows, self._is_local, _with_punctuation(self.gate.roots)
        )

    def _is_local(self, path: str) -> bool:
        return path.split("/", 2)[1] in self.top_folders


@lru_cache(maxsize=8)
def _with_punctuation(roots: RootSet) -> list[str]:
    """The roots and the folders above them that running text could seem to end."""
    given = (path for root in roots.roots for path in (root.given, root.real))
    folders = {folder for path in given for folder in above(path) if _PUNCTUATION.search(folder)}
    return sorted(folders, key=len, reverse=True)


def decode(raw: bytes) -> str:
    """The text of a document: UTF-8. A byte-order mark is its first character.

    Servers that read a file themselves count it, so it has to be in what they are told.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise NotFound("the document is not UTF-8 text") from None


def top_folders() -> frozenset[str]:
    """The names in the machine's root folder."""
    try:
        return frozenset(os.listdir("/"))
    except OSError:
        return frozenset()


def text_digest48(texts: Mapping[str, str | None]) -> int:
    """A 48-bit number from paths and their texts."""
    hasher = hashlib.sha256()
    for path, text in sorted(texts.items()):
        hasher.update(os.fsencode(path) + b"\0")
        hasher.update((text or "").encode("utf-8", "surrogatepass") + b"\0")
    return int.from_bytes(hasher.digest()[:6], "big")
