"""The one box: what a person or a model means by a line of text.

A query is taken apart into terms that are asked for softly (any may be missing), names that may be
declared somewhere, quoted phrases, and mentions of files. Nothing is guessed about grammar: a
question in English, an identifier, an error message or a whole issue text are all just evidence.
Of a text of several lines the first says most, as the title of an issue does, and blocks of code in
it, which show how to see a problem and not where it is, say least.

>>> query = understand('where is "retry after" handled in HttpClient.send?')
>>> [term.text for term in query.terms]
['retri', 'after', 'handl', 'http', 'client', 'httpclient', 'send']
>>> query.phrases, query.names
(('retry after',), ('HttpClient', 'send'))
"""

import math
import re
from typing import NamedTuple

from sightline.index.reading.roles import Role
from sightline.index.searching.rank import Term
from sightline.index.terms.words import raw_words, terms

__all__ = ["Query", "understand"]

#: How many terms are looked up. Of more, the first of each are kept; an issue text repeats itself.
_MAX_TERMS = 96
_MAX_NAMES = 24
_MAX_PHRASES = 8
_MAX_MENTIONS = 16
#: How much a word counts in the first line of a text, and in its blocks of code.
_TITLE = 3.0
_BLOCK = 0.25
_MAX_FRAMES = 4
#: A question with fewer terms is about something in particular.
SHORT = 12

_QUOTED = re.compile(r'"([^"\n]{3,200})"|“([^”\n]{3,200})”')
_NAME = re.compile(r"[^\W\d]\w*")
_CHAIN = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#|->|/)[^\W\d]\w*){0,6}")
_LOOKS_DECLARED = re.compile(r"[a-z0-9][A-Z]|_|[A-Z]{2}[a-z]|^[A-Z][a-z]+\d|\d[A-Za-z]")
_MENTION = re.compile(
    r"(?<![\w.@+~-])[\w.@+~-]*(?:/[\w.@+~-]+)+"
    r"|(?<![\w+~-])[\w+~-]+(?:\.[\w-]+){0,8}\.[A-Za-z][A-Za-z0-9]{0,5}\b"
)
_FENCED = re.compile(
    r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)
#: Frames of a stack: Python's end where the error is, the others begin there.
_PYTHON_FRAME = re.compile(r'File "([^"\n]{1,300})", line \d')
_FRAME = re.compile(r"\bat [^\n(]{0,200}\(([\w./$-]{1,300}\.\w{1,6}):\d")
_WANTS = {
    Role.TEST: frozenset("test tests testing unittest spec specs".split()),
    Role.DOCS: frozenset("doc docs documentation readme changelog tutorial guide guides".split()),
    Role.EXAMPLE: frozenset("example examples sample samples demo demos benchmark".split()),
    Role.CONFIG: frozenset("config configuration settings yaml json toml manifest".split()),
    Role.GENERATED: frozenset("generated".split()),
    Role.VENDORED: frozenset("vendor vendored".split()),
}
#: More plain words in a row are hardly ever copied.
_MAX_COPIED = 20
_CODE = re.compile(r"[^\w\s,.!?'\"-]|\w[.-]\w|--")


class Query(NamedTuple):
    text: str
    terms: tuple[Term, ...]
    #: Names that may be declared, in order of appearance.
    names: tuple[str, ...] = ()
    #: The parts of the one dotted name that is the whole query, outermost first; or nothing.
    exact: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    #: Paths, or ends of paths, that the text mentions.
    mentions: tuple[str, ...] = ()
    #: The roles that the text asks for by name.
    wants: frozenset[Role] = frozenset()
    #: The whole text, where it may stand in a file exactly so.
    verbatim: str = ""

    @property
    def short(self) -> bool:
        return len(self.terms) <= SHORT

    @property
    def tells(self) -> bool:
        """Whether this is a text of several lines, such as an issue, and no question."""
        return not self.short and "\n" in self.text


def understand(text: str) -> Query:
    """What ``text`` asks for."""
    text = text.strip()
    found = _terms(text)
    phrases = tuple(dict.fromkeys((m[1] or m[2]).strip() for m in _QUOTED.finditer(text)))[
        :_MAX_PHRASES
    ]
    exact = _exact(text)
    unquoted = _QUOTED.sub(" ", text)
    lower = {word.lower() for word in raw_words(text)}
    is_short = len(found) <= SHORT
    return Query(
        text,
        found,
        names=_names(unquoted, exact),
        exact=exact,
        phrases=tuple(phrase for phrase in phrases if len(phrase) >= 3),
        mentions=_mentions(text),
        wants=frozenset(r for r, words in _WANTS.items() if is_short and words & lower),
        verbatim=_verbatim(text, phrases),
    )


def _terms(text: str) -> tuple[Term, ...]:
    counts: dict[str, float] = {}
    for part, worth in _weighed(text):
        for raw in raw_words(part):
            for term in terms(raw):
                counts[term] = counts.get(term, 0.0) + worth
    kept = list(counts.items())[:_MAX_TERMS]
    return tuple(
        Term(term, 1.0 + math.log(count) if count >= 1.0 else count) for term, count in kept
    )


def _weighed(text: str) -> tuple[tuple[str, float], ...]:
    """The parts of a text and how much the words of each count."""
    title, line_break, rest = text.partition("\n")
    if not line_break:
        return ((text, 1.0),)
    blocks = "\n".join(block[2] for block in _FENCED.finditer(rest))
    return (title, _TITLE), (_FENCED.sub("\n", rest), 1.0), (blocks, _BLOCK)


def _exact(text: str) -> tuple[str, ...]:
    """``Parser.parse()`` and ``net::Server`` name one thing; a sentence does not."""
    bare = text.strip("`'\"").removesuffix("()").strip("`'\"")
    if not _CHAIN.fullmatch(bare):
        return ()
    return tuple(re.split(r"\.|::|#|->|/", bare))


def _names(text: str, exact: tuple[str, ...]) -> tuple[str, ...]:
    """Words that look like declared names: mixed case, underscores, code marks around them."""
    if exact:
        return exact[-1:]
    found: dict[str, None] = {}
    for chain in _CHAIN.finditer(text):
        word = chain[0]
        marked = text[max(0, chain.start() - 1) : chain.start()] == "`"
        called = text[chain.end() : chain.end() + 1] == "("
        parts = _NAME.findall(word)
        for part in parts:
            if len(part) > 2 and (
                marked or called or len(parts) > 1 or _LOOKS_DECLARED.search(part)
            ):
                found[part] = None
    return tuple(found)[:_MAX_NAMES]


def _mentions(text: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for written in (*_frames(text), *(match[0] for match in _MENTION.finditer(text))):
        mention = written.replace("\\", "/").strip("./~-")
        name = mention.rpartition("/")[2]
        if len(name) > 3 and "." in name.strip(".") and not mention.startswith("www."):
            found[mention] = None
    return tuple(found)[:_MAX_MENTIONS]


def _frames(text: str) -> tuple[str, ...]:
    """The files of the innermost frames of a stack, if the text shows one."""
    python = [frame[1] for frame in _PYTHON_FRAME.finditer(text)]
    others = [frame[1] for frame in _FRAME.finditer(text)]
    return tuple(dict.fromkeys([*reversed(python), *others]))[:_MAX_FRAMES]


def _verbatim(text: str, phrases: tuple[str, ...]) -> str:
    """The text itself, if it could have been copied from a file."""
    if phrases or not 4 <= len(text) <= 160 or "\n" in text:
        return ""
    return text if _CODE.search(text) or 2 <= len(text.split()) <= _MAX_COPIED else ""
