"""Which licence a file of a repository is under, and whether that lets us learn from it.

A file is under the licence texts of the nearest folder above it that has any. Every text there must
be on the allow-list, or state a choice of which one is. A file that names another licence in an
SPDX line goes by that line. What cannot be told is not used.
"""

import re
from collections.abc import Iterable, Mapping

__all__ = ["ALLOWED", "Licences", "identify", "is_licence_file", "spdx_of"]

#: Permissive licences. None of them asks anything of who reads the code.
ALLOWED = frozenset(
    """
    0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BSL-1.0 CC0-1.0 HPND ISC MIT MIT-0 PSF-2.0 PostgreSQL
    Python-2.0 Unlicense Zlib curl
    """.split()
)

_NAMES = re.compile(
    r"^(?:un)?licen[sc]es?(?:[._-].*)?$|^copying(?:[._-].*)?$|^(?:mit|apache|bsd)[._-]licen[sc]e.*$",
    re.IGNORECASE,
)
_NOT_TEXTS = re.compile(
    r"\.(?:py|go|js|ts|rs|java|c|h|cc|cpp|json|ya?ml|toml|png|rb|sh|html|xml)$", re.IGNORECASE
)

#: Sentences that only one licence has, most telling first, in lower case with single blanks.
_MARKS = (
    ("AGPL", "gnu affero general public license version"),
    ("AGPL", "gnu affero general public license"),
    ("LGPL", "gnu lesser general public license version"),
    ("LGPL", "gnu library general public license"),
    ("LGPL", "gnu lesser general public license"),
    ("GPL", "gnu general public license version"),
    ("GPL", "gnu general public license"),
    ("MPL", "mozilla public license"),
    ("EPL", "eclipse public license"),
    ("CDDL", "common development and distribution license"),
    ("SSPL", "server side public license"),
    ("BUSL", "business source license"),
    ("FSL", "functional source license"),
    ("Elastic", "elastic license"),
    ("Commons-Clause", "commons clause"),
    ("Proprietary", "enterprise edition"),
    ("Proprietary", "enterprise license"),
    ("Proprietary", "all rights reserved. this software is the confidential"),
    ("CC", "creative commons attribution"),
    ("CC0-1.0", "cc0 1.0 universal"),
    ("Apache-2.0", "apache license version 2.0"),
    ("Apache-2.0", "apache license, version 2.0"),
    ("Unlicense", "this is free and unencumbered software released into the public domain"),
    ("BSL-1.0", "boost software license"),
    ("PSF-2.0", "python software foundation license"),
    ("HPND", "the pil software"),
    (
        "PostgreSQL",
        "in no event shall the university of california be liable to any party for direct",
    ),
    ("curl", "curl contributors"),
    ("Zlib", "origin of this software must not be misrepresented"),
    ("ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"),
    ("ISC", "permission to use, copy, modify, and distribute this software for any purpose"),
    ("MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"),
    ("BSD-3-Clause", "neither the name"),
    ("BSD-3-Clause", "may not be used to endorse or promote products derived"),
    ("BSD-2-Clause", "redistribution and use in source and binary forms"),
    ("MIT", "licensed under the mit license"),
    ("MIT", "the mit license"),
)
_CHOICE = re.compile(
    r"\b(?:dual[- ]licensed|at your option|either of (?:the|these)|licensed under either|"
    r"either the .{0,40}or the|mit or apache|apache.{0,20} or mit)\b"
)
_SPDX = re.compile(rb"SPDX-License-Identifier:\s*([^\r\n*]{1,120})")
_WORD = re.compile(r"[A-Za-z0-9.+-]+")


def is_licence_file(name: str) -> bool:
    """Whether a file is a licence text, by its last path component."""
    return bool(_NAMES.match(name)) and not _NOT_TEXTS.search(name)


def identify(text: str) -> frozenset[str]:
    """The licences that a text is, or speaks of; empty when it is none that is known.

    >>> sorted(identify("This is free and unencumbered software released into the public domain"))
    ['Unlicense']
    """
    flat = " ".join(text.lower().replace("*", " ").replace("#", " ").replace("//", " ").split())
    found = {name for name, mark in _MARKS if mark in flat}
    if "Apache-2.0" in found:
        # Its appendix and many notices around it quote nothing else; it is never a BSD text.
        found -= {"BSD-2-Clause"} if "BSD-3-Clause" not in found else set()
    if "BSD-3-Clause" in found and "BSD-2-Clause" not in found:
        found.discard("BSD-3-Clause")
    if "BSD-3-Clause" in found:
        found.discard("BSD-2-Clause")
    if "PSF-2.0" in found:
        found.discard("GPL")  # its history tells which releases are compatible with the GPL
    for strong in ("AGPL", "LGPL"):
        if strong in found:
            found.discard("GPL")
    return frozenset(found)


def spdx_of(head: bytes) -> bool | None:
    """Whether the licence that a file names itself is allowed; ``None`` when it names none."""
    match = _SPDX.search(head)
    if match is None:
        return None
    words = _WORD.findall(match[1].decode("latin-1"))
    names = [word for word in words if word.upper() not in ("OR", "AND", "WITH")]
    allowed = [name in ALLOWED or name.startswith("LLVM-exception") for name in names]
    if "OR" in words:
        return any(allowed)
    return bool(allowed) and all(allowed)


class Licences:
    """The licences of a repository, by folder."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """``texts``: path to content of every licence file."""
        by_folder: dict[str, list[str]] = {}
        for path, text in texts.items():
            folder, _, name = path.rpartition("/")
            if folder.lower().rpartition("/")[2] in ("licenses", "licences", "license"):
                continue  # copies for what is bundled elsewhere
            by_folder.setdefault(folder, []).append(f"{name}\n{text}")
        self._folders = {folder: _judge(texts) for folder, texts in by_folder.items()}

    @property
    def top(self) -> str:
        """What the whole repository is under, as one line."""
        allowed, names = self._folders.get("", (False, frozenset()))
        return " ".join(sorted(names)) + ("" if allowed else " (not allowed)")

    def allows(self, path: str) -> bool:
        """Whether the file at ``path`` is under an allowed licence."""
        folder = path.rpartition("/")[0]
        while folder:
            if folder in self._folders:
                return self._folders[folder][0]
            folder = folder.rpartition("/")[0]
        return self._folders.get("", (False, frozenset()))[0]


def _judge(texts: Iterable[str]) -> tuple[bool, frozenset[str]]:
    """Whether a folder's texts together let us use its files, and what they are."""
    known = [found for text in texts if (found := identify(text))]
    names = frozenset().union(*known) if known else frozenset()
    if not names:
        return False, names
    if names <= ALLOWED:
        return True, names
    # Several texts side by side are a choice only where one of them says so.
    joined = " ".join(" ".join(texts).lower().split())
    choice = bool(_CHOICE.search(joined)) and bool(names & ALLOWED)
    return choice and not names & {"AGPL", "SSPL", "BUSL", "Proprietary"}, names
