"""The documents as a static site with search: ``python -m tools.site [FOLDER]`` (default: site).

README.md is the front page. Links between pages stay links between pages; a link to something that
has no page, such as a source file, becomes plain text. Nothing is loaded from anywhere: the pages
work from a folder without a server.
"""

import html
import itertools
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = ["build", "slug"]

_ROOT = Path(__file__).parent.parent
_LOOK = Path(__file__).parent / "site_look"
#: The pages in the order of the menu; those not named follow under their folder.
_MENU = {
    "Start": ["README.md", "docs/connect.md", "docs/first-aid.md", "docs/install.md"],
    "Tasks": [
        "docs/symbols.md",
        "docs/search.md",
        "docs/index.md",
        "docs/context.md",
        "docs/languages.md",
        "docs/add-a-language.md",
        "docs/roots.md",
        "docs/containers.md",
        "docs/remote.md",
        "docs/vscode.md",
    ],
    "Know": ["docs/SECURITY.md", "docs/comparison.md", "docs/benchmarks.md"],
}
_REST = {
    "docs": "Inside",
    "reference": "Reference",
    "evidence": "Evidence",
    "decisions": "Decisions",
}


@dataclass(frozen=True)
class Page:
    #: Below the root of the project, such as ``docs/connect.md``.
    name: str
    title: str
    text: str

    @property
    def target(self) -> str:
        if self.name == "README.md":
            return "index.html"
        if self.name == "docs/index.md":
            return "the-index.html"  # index.html is the front page
        return self.name.removeprefix("docs/").removesuffix(".md").lower() + ".html"


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def build(folder: Path) -> list[Path]:
    """Writes the site and returns its pages."""
    pages = _pages()
    known = {page.name: page for page in pages}
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("site.css", "site.js"):
        (folder / name).write_text((_LOOK / name).read_text(encoding="utf-8"), encoding="utf-8")
    _copy_pictures(folder)
    words = [
        {"target": page.target, "title": page.title, "text": _words(page.text)} for page in pages
    ]
    index = f"window.PAGES = {json.dumps(words, ensure_ascii=False)};\n"
    (folder / "pages.js").write_text(index, encoding="utf-8")
    written: list[Path] = []
    for page in pages:
        file = folder / page.target
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_render(page, known), encoding="utf-8")
        written.append(file)
    return written


def _copy_pictures(folder: Path) -> None:
    docs = _ROOT / "docs"
    for file in sorted(docs.rglob("*")):
        if file.suffix in (".svg", ".png"):
            target = folder / file.relative_to(docs)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def _pages() -> list[Page]:
    files = [_ROOT / "README.md", *sorted((_ROOT / "docs").rglob("*.md"))]
    made: list[Page] = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        found = re.search(r"^# (.+)$", text, re.MULTILINE)
        name = str(file.relative_to(_ROOT))
        made.append(Page(name, found[1].replace("`", "") if found else file.stem, text))
    return made


def _render(page: Page, known: dict[str, Page]) -> str:
    depth = page.target.count("/")
    up = "../" * depth
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    text = re.sub(r"^<!--.*?-->\n*", "", page.text, flags=re.DOTALL)
    tokens = markdown.parse(text)
    _anchor(tokens)
    _link(tokens, page, known)
    body = markdown.renderer.render(tokens, markdown.options, {})
    body = body.replace("<table>", '<div class="wide"><table>').replace(
        "</table>", "</table></div>"
    )
    return _FRAME.format(
        title=html.escape(page.title), up=up, menu=_menu(page, known, up), body=body
    )


def _anchor(tokens: list[Token]) -> None:
    for token, inline in itertools.pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slug(inline.content.replace("`", "")))


def _link(tokens: list[Token], page: Page, known: dict[str, Page]) -> None:
    for token in tokens:
        for child in token.children or ():
            picture = _ROOT / os.path.dirname(page.name) / str(child.attrGet("src") or "")
            if child.type == "image" and not picture.exists():
                # Its command has yet to draw it: what it shows is said in words.
                child.type, child.tag, child.children = "text", "", None
                continue
            target = str(child.attrGet("href") or "")
            if child.type != "link_open" or re.match(r"[a-z]+:|#", target):
                continue
            path, _, anchor = target.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(page.name), path))
            other = known.get(there)
            if other is None:
                child.attrs = {"class": "nowhere"}
                continue
            start = os.path.dirname(page.target) or "."
            relative = os.path.relpath(other.target, start)
            child.attrSet("href", relative + (f"#{anchor}" if anchor else ""))


def _menu(page: Page, known: dict[str, Page], up: str) -> str:
    groups = {
        title: [known[name] for name in names if name in known] for title, names in _MENU.items()
    }
    named = {name for names in _MENU.values() for name in names}
    for other in known.values():
        if other.name not in named:
            title = _REST.get(Path(other.name).parent.name, "More")
            groups.setdefault(title, []).append(other)
    parts: list[str] = []
    for title, pages in groups.items():
        links = "".join(
            f'<li><a href="{up}{each.target}"{" class=here" if each is page else ""}>'
            f"{html.escape(each.title)}</a></li>"
            for each in pages
        )
        parts.append(f"<h2>{title}</h2><ul>{links}</ul>")
    return "".join(parts)


def _words(text: str) -> str:
    """What is searched: the text without its marks."""
    return re.sub(r"[`*|#\[\]()<>_-]+|\s+", " ", text).strip()


_FRAME = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Sightline</title>
<link rel="stylesheet" href="{up}site.css">
</head>
<body data-up="{up}">
<header><a class="name" href="{up}index.html">Sightline</a>
<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off">
<button id="open" aria-expanded="false" aria-controls="menu">Pages</button></header>
<ol id="found" hidden></ol>
<div class="columns"><nav id="menu">{menu}</nav><main>{body}</main></div>
<script src="{up}pages.js"></script><script src="{up}site.js"></script>
</body>
</html>
"""


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else _ROOT / "site"
    pages = build(folder)
    sys.stdout.write(f"{len(pages)} pages in {folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
