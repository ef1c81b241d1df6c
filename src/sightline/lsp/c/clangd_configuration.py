"""Whether what a project tells clangd in ``.clangd`` files can be left to clangd to read.

Such a file may add any flag, name a compiler or an index, and clangd reads those of every folder
above a file, up to the top of the file system. Where nobody trusted the project all of them must be
plain: every line in a form that cannot be misread, every word of every line one that is known to
do no harm. Anything else, and clangd is told to read none.

>>> from sightline.lsp.c.compiler_flags import Flags
>>> is_plain("CompileFlags:\\n  Add: [-DTWICE, -Wall]  # why\\n", Flags([]), "/ws")
True
>>> is_plain("CompileFlags:\\n  Add: [--amdgpu-arch-tool=./x]\\n", Flags([]), "/ws")
False
>>> is_plain("CompileFlags:\\n  Compiler: ./x\\n", Flags([]), "/ws")
False
"""

import os
import re

from sightline.contract.uris import above
from sightline.lsp.c.compiler_flags import Flags
from sightline.lsp.files.reading import read_text
from sightline.lsp.project.projects import Project

__all__ = ["NAME", "are_plain", "beyond", "files", "is_plain"]

NAME = ".clangd"
_MAX_BYTES = 1 << 16
_FLAGS = "CompileFlags"
#: What a file may say besides. Compilers, databases and indexes are chosen by nobody here.
_KEYS = frozenset(
    """
    CompileFlags Add Remove If PathMatch PathExclude Index Background StandardLibrary Diagnostics
    Suppress UnusedIncludes MissingIncludes Includes IgnoreHeader AnalyzeAngledIncludes ClangTidy
    CheckOptions InlayHints Enabled ParameterNames DeducedTypes Designators BlockEnd
    DefaultArguments TypeNameLimit Hover ShowAKA MacroContentsLimit Completion AllScopes
    ArgumentLists HeaderInsertion CodePatterns SemanticTokens DisabledKinds DisabledModifiers Style
    FullyQualifiedNamespaces QuotedHeaders AngledHeaders Documentation CommentFormat
    """.split()
)
#: No escapes, anchors, aliases, tags or texts over several lines.
_SCALAR = r"""(?:'[^']*'|"[^"\\]*"|(?:-(?=[^ ])|[\w./+^(])[^ '"\[\]{},#:&!>%@`]*)"""
_LINE = re.compile(
    rf"(?P<indent> *)(?:(?P<key>[A-Za-z]+): *|- +)?"
    rf"(?P<value>{_SCALAR}|\[ *(?:{_SCALAR}(?: *, *{_SCALAR})*)? *,? *\])?(?: +#.*)?"
)


def files(project: Project) -> list[str]:
    """Every such file that speaks of a file in the root: in it, and above."""
    root = project.projects.root
    tree = list(project.projects.tree().items())
    inside = [f"{folder}/{name}" for folder, names in tree for name in names if _is_one(name)]
    places = above(os.path.dirname(root.real))
    return sorted(inside) + [f"{place.rstrip('/')}/{NAME}" for place in places]


def beyond(project: Project) -> list[str]:
    """Where one may lie or appear above the repository, where nobody watches."""
    top = os.path.dirname(project.projects.root.outermost)
    return [f"{place.rstrip('/')}/{NAME}" for place in above(top)]


def are_plain(paths: list[str], flags: Flags) -> bool:
    """Whether nothing but plain files is there."""
    for path in filter(os.path.lexists, paths):
        text = read_text(path, _MAX_BYTES)
        if text is None or not is_plain(text, flags, os.path.dirname(path)):
            return False
    return True


def is_plain(text: str, flags: Flags, base: str) -> bool:
    """Whether a file says only what does no harm."""
    lines = text.replace("\r\n", "\n").split("\n")
    section = ""
    for line in map(str.rstrip, lines):
        if line == "---":
            section = ""
        if not line.strip(" -") or (line.lstrip(" ").startswith("#") and _is_text(line)):
            continue
        read = _LINE.fullmatch(line)
        if read is None or not _is_text(line):
            return False
        key = read["key"]
        if key is not None and key not in _KEYS:
            return False
        if not read["indent"]:
            section = key or ""
        if not section or (key is None and not line.lstrip(" ").startswith("- ")):
            return False
        # What is taken away leaves flags of one word each.
        words = _words(read) if section == _FLAGS and key != "Remove" else []
        if not all(flags.accepts(word, base) for word in words):
            return False
    return True


def _words(read: "re.Match[str]") -> list[str]:
    found = re.findall(_SCALAR, (read["value"] or "").strip("[] "))
    return [word.strip("'\"") for word in found]


def _is_text(line: str) -> bool:
    return line.isascii() and line.isprintable()


def _is_one(name: str) -> bool:
    return name.lower() == NAME  # some file systems do not tell them apart
