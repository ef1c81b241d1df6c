"""Marker files: a little workspace, calls at marked places, and the expected answers, in one text.

    What the scenario is about, in a sentence.

    -- main.py --
    from shapes import area
    print(⟨use⟩area(2, 3))
    -- call --
    vscode.lsp.definition {"uri": "@main.py", "position": "@use"}
    -- answer --
    {"locations": [...], "summary": "Found 1 definition."}

``⟨name⟩`` marks the place right behind it and is taken out of the file. In arguments ``@name`` is a
marked position or a file's URI, and ``@next`` the cursor of the answer before. In answers the root
is ``$ROOT``, ids are ``$ID`` and cursors ``$CURSOR``, because they depend on where the workspace
lies. An answer that is an error shows its code and message. ``@id`` is the id of the first hit of
the answer before; what the index takes on disk is ``$BYTES``.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["MARKER", "SECTION", "Archive", "Call", "masked", "shown"]

SECTION = re.compile(r"^-- (.+) --$", re.MULTILINE)
MARKER = re.compile(r"⟨(\w+)⟩")


@dataclass
class Call:
    tool: str
    arguments: dict[str, Any]
    line: str
    expected: str = ""


@dataclass
class Archive:
    comment: str
    files: dict[str, str] = field(default_factory=dict)
    marks: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    #: The sections as they were written, for rewriting.
    sections: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> "Archive":
        comment, *rest = SECTION.split(text)
        archive = cls(comment.strip())
        for name, body in zip(rest[::2], rest[1::2], strict=True):
            archive.sections.append((name, body.removeprefix("\n")))
            archive._take(name, body.removeprefix("\n"))
        return archive

    def _take(self, name: str, body: str) -> None:
        if name == "call":
            tool, _, arguments = body.strip().partition(" ")
            self.calls.append(Call(tool, json.loads(arguments or "{}"), body.strip()))
        elif name == "answer":
            self.calls[-1].expected = body.strip()
        else:
            self.files[name] = self._unmark(name, body)

    def _unmark(self, name: str, body: str) -> str:
        lines = body.split("\n")
        for number in range(len(lines)):
            while match := MARKER.search(lines[number]):
                before = lines[number][: match.start()]
                column = len(before.encode("utf-16-le")) // 2
                self.marks[match[1]] = (name, number, column)
                lines[number] = before + lines[number][match.end() :]
        return "\n".join(lines)

    def write_to(self, root: Path) -> None:
        for name, text in self.files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")

    def rewritten(self, answers: list[str]) -> str:
        """The text with these answers, one per call."""
        out = [self.comment, "\n\n" if self.comment else ""]
        remaining = iter(answers)
        for name, body in self.sections:
            if name == "answer":
                continue
            out.append(f"-- {name} --\n{body if body.endswith(chr(10)) else body + chr(10)}")
            if name == "call":
                out.append(f"-- answer --\n{next(remaining)}\n")
        return "".join(out)

    def resolve(self, value: Any, root: Path, before: dict[str, Any]) -> Any:
        """Arguments with ``@`` references filled in; ``before`` is the answer of before."""
        if isinstance(value, dict):
            return {key: self.resolve(item, root, before) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item, root, before) for item in value]
        if not isinstance(value, str) or not value.startswith("@"):
            return value
        name = value[1:]
        if name == "next":
            return before.get("nextCursor")
        if name == "id":
            return before["items"][0]["id"]
        if name in self.marks:
            _, line, character = self.marks[name]
            return {"line": line, "character": character}
        return (root / name).as_uri()


def masked(answer: Any, root: Path) -> Any:
    """An answer without what depends on where the workspace lies."""
    text = json.dumps(answer, ensure_ascii=False)
    text = text.replace(root.as_uri(), "$ROOT").replace(str(root), "$ROOT")
    text = re.sub(r"sha256:[0-9a-f]{64}", "$ID", text)
    text = re.sub(r'"nextCursor": "[^"]+"', '"nextCursor": "$CURSOR"', text)
    text = re.sub(r'"id": "[0-9a-f]{12}(:\d+-\d+:[0-9a-f]{8})"', r'"id": "$HIT\1"', text)
    text = re.sub(r'"indexBytes": [1-9]\d*', '"indexBytes": "$BYTES"', text)
    return json.loads(text)


def shown(answer: Any) -> str:
    """How an answer stands in a marker file: one list item per line."""
    text = json.dumps(answer, indent=1, ensure_ascii=False)
    for _ in range(3):  # positions, ranges and locations on one line each
        text = re.sub(r"\{\s+([^{}\[\]]*?|[^{}]*\{[^{}]*\}[^{}]*?)\s+\}", _one_line, text)
    return text


def _one_line(match: re.Match[str]) -> str:
    inner = re.sub(r"\s*\n\s*", " ", match[1])
    whole = "{" + inner.strip() + "}"
    return whole if len(whole) <= 160 else match[0]
