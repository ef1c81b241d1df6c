"""What each language server is measured on: a public code base, a question, and its true answer.

The truth is counted without a language server: by a tokenizer, by a parser of the standard library,
or in the text without its comments and strings.
"""

import html.parser
import io
import json
import re
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import ansible, django, hiredis, rxjs

__all__ = ["CASES", "Case"]

Place = tuple[str, int, int]


@dataclass(frozen=True)
class Case:
    server: str
    language: str
    corpus: Callable[[], Path]
    #: The file that is asked about, and the name in it; without a name its outline is asked for.
    file: str
    name: str
    #: References of the name, or names in the outline.
    truth: Callable[[Path, str, str], set[Place] | set[str]]
    pattern: str
    #: What limits the truth, for the page.
    weakness: str = ""

    @property
    def asks_references(self) -> bool:
        return bool(self.name)


def by_tokenizer(root: Path, file: str, name: str) -> set[Place]:
    """Every NAME token of Python."""
    found: set[Place] = set()
    for source in root.rglob("*.py"):
        content = source.read_bytes()
        if name.encode() in content:
            for token in tokenize.tokenize(io.BytesIO(content).readline):
                if token.type == tokenize.NAME and token.string == name:
                    found.add((source.as_uri(), token.start[0] - 1, token.start[1]))
    return found


_NOISE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
_SHELL_NOISE = re.compile(r"(?<!\S)#[^\n]*")


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _in_text(sources: list[Path], name: str, noise: re.Pattern[str]) -> set[Place]:
    found: set[Place] = set()
    for source in sources:
        text = source.read_text(encoding="utf-8", errors="replace")
        if name not in text:
            continue
        for number, line in enumerate(noise.sub(_blank, text).split("\n")):
            for match in re.finditer(rf"\b{name}\b", line):
                found.add((source.as_uri(), number, match.start()))
    return found


def in_typescript(root: Path, file: str, name: str) -> set[Place]:
    return _in_text(sorted((root / "src").rglob("*.ts")), name, _NOISE)


#: Macros that are defined on other systems than Linux.
_ELSEWHERE = re.compile(
    r"#\s*(ifdef|ifndef|if\s+defined)\b.*\b(_WIN32|__APPLE__|_OSX|__sun|_AIX)\b"
)


def in_c(root: Path, file: str, name: str) -> set[Place]:
    """Every place that is compiled on Linux."""
    sources = sorted([*root.rglob("*.c"), *root.rglob("*.h")])
    found = _in_text(sources, name, _NOISE)
    skipped = {(source.as_uri(), line) for source in sources for line in _other_systems(source)}
    return {place for place in found if place[:2] not in skipped}


def _other_systems(source: Path) -> set[int]:
    """Lines between a condition that holds on other systems only and its end or ``#else``."""
    #: Per open condition: whether this part is skipped, and whether its ``#else`` is.
    open_conditions: list[tuple[bool, bool]] = []
    skipped: set[int] = set()
    lines = source.read_text(encoding="utf-8", errors="replace").split("\n")
    for number, line in enumerate(lines):
        directive = line.lstrip()
        if re.match(r"#\s*if", directive):
            elsewhere = _ELSEWHERE.match(directive)
            without = elsewhere is not None and elsewhere[1] == "ifndef"
            open_conditions.append((elsewhere is not None and not without, without))
        elif re.match(r"#\s*el", directive) and open_conditions:
            open_conditions[-1] = (open_conditions[-1][1], False)
        elif re.match(r"#\s*endif", directive) and open_conditions:
            open_conditions.pop()
        if any(skips for skips, _ in open_conditions):
            skipped.add(number)
    return skipped


def in_shell(root: Path, file: str, name: str) -> set[Place]:
    return _in_text([root / file], name, _SHELL_NOISE)


def json_keys(root: Path, file: str, name: str) -> set[str]:
    return set(json.loads((root / file).read_text(encoding="utf-8")))


def yaml_keys(root: Path, file: str, name: str) -> set[str]:
    """The keys that stand at the beginning of a line."""
    text = (root / file).read_text(encoding="utf-8")
    return set(re.findall(r"^([A-Za-z_][\w-]*):", text, re.MULTILINE))


def css_selectors(root: Path, file: str, name: str) -> set[str]:
    """The selectors of rules that are not nested, one per rule."""
    text = re.sub(r"/\*.*?\*/", "", (root / file).read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.findall(r"^([^\s@{},][^{},]*?)\s*\{", text, re.MULTILINE)
    return {selector for selector in found if "\n" not in selector}


def html_elements(root: Path, file: str, name: str) -> set[str]:
    """The elements that have an id, as the outline names them."""
    found: set[str] = set()

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            own = dict(attributes)
            if own.get("id") and not own.get("class"):
                found.add(f"{tag}#{own['id']}")

    Reader().feed((root / file).read_text(encoding="utf-8"))
    return found


_ENCODING = "django/utils/encoding.py"
_SUBSCRIBER = "src/internal/operators/OperatorSubscriber.ts"
CASES = [
    Case("ty", "python", django, _ENCODING, "force_str", by_tokenizer, "*.py"),
    Case("pyright", "python", django, _ENCODING, "force_str", by_tokenizer, "*.py"),
    Case(
        "tsgo", "typescript", rxjs, _SUBSCRIBER, "createOperatorSubscriber", in_typescript, "*.ts"
    ),
    Case(
        "vtsls", "typescript", rxjs, _SUBSCRIBER, "createOperatorSubscriber", in_typescript, "*.ts"
    ),
    Case("clangd", "c", hiredis, "vendor/hiredis/hiredis.c", "__redisSetError", in_c, "*.[ch]"),
    Case(
        "bash",
        "shellscript",
        ansible,
        "test/lib/ansible_test/_util/target/setup/bootstrap.sh",
        "install_pip",
        in_shell,
        "*.sh",
        "a name of one file",
    ),
    Case(
        "yaml",
        "yaml",
        ansible,
        "lib/ansible/keyword_desc.yml",
        "",
        yaml_keys,
        "*.yml",
        "top-level keys",
    ),
    Case("json", "json", django, "package.json", "", json_keys, "*.json", "top-level keys"),
    Case(
        "css",
        "css",
        django,
        "django/contrib/admin/static/admin/css/login.css",
        "",
        css_selectors,
        "*.css",
        "rules with one selector on one line",
    ),
    Case(
        "html",
        "html",
        django,
        "js_tests/tests.html",
        "",
        html_elements,
        "*.html",
        "elements with an id",
    ),
]
