"""What is no code in a source: its comments, and what it quotes.

A text of which parts may be code, as one with expressions in it, counts as code.
"""

import re
from collections.abc import Iterable

from sightline.contract.possessive import possessive

__all__ = ["JAVASCRIPT", "PYTHON", "has_code"]

# The patterns begin with single characters, all of them: such places are found
# several times faster than any other.


def _text(quote: bytes, code: bytes) -> bytes:
    """A pattern for a text of Python. What is ``code`` is so if letters before it say that it has
    expressions in it.
    """
    letters = (rb"[fFtT]", rb"[fFtT][rR]", rb"[rR][fFtT]")
    formatted = b"|".join(rb"(?<=\b%b%b)" % (each, quote) for each in letters)
    long = rb"%b{2}(?:[^%b\\]++|\\.|%b(?!%b{2}))*+(?:%b{3}|\Z)" % ((quote,) * 5)
    return rb"%b(?P<%b>%b)?(?:%b|%b)" % (quote, code, formatted, long, _line(quote))


def _line(quote: bytes) -> bytes:
    """A pattern for a text that ends in its line, after the quote that it begins with."""
    return rb"(?:[^%b\\\n]++|\\.)*+%b?" % (quote, quote)


def _quoted(quote: bytes) -> bytes:
    """A pattern for a text of JavaScript, but for quotes behind a letter or figure: those are in
    what markup says (``Don't``), unless a keyword stands there.
    """
    keywords = b"|".join(rb"(?<=\b%b%b)" % (each, quote) for each in _BEFORE_TEXTS)
    return rb"%b(?:(?<![\w$]%b)|%b)%b" % (quote, quote, keywords, _line(quote))


_BEFORE_TEXTS = (b"case", b"default", b"from", b"import", b"return", b"typeof")


def _expression(name: bytes) -> bytes:
    """A pattern for a regular expression of JavaScript behind its first slash. One that does not
    end in its line, or that has markup in it, is none: that is code, by ``name``.
    """
    markup = rb"/[\w.:-]*>", rb"[\w$]+[?!]?\."
    part = rb"[^/\\\[<{\n]++|\\[^\n]|\[(?:[^\]\\\n]++|\\[^\n])*+\]?|<(?!%b)|\{(?!%b)" % markup
    return rb"(?![/*])(?:%b)++(?:/|(?P<%b>))" % (part, name)


#: What stands before a regular expression, also with a blank between or at the end of the line
#: above. Others, such as a brace or a semicolon that ends something, are in what markup says, too.
_OPENS = rb"[(,=:\[&|?{]"


PYTHON = re.compile(
    possessive(rb"#[^\n]*|%b|%b" % (_text(b'"', b"code"), _text(b"'", b"also_code"))), re.DOTALL
)
JAVASCRIPT = re.compile(
    possessive(
        rb"`(?P<code>(?:[^`\\]++|\\.)*+`?)|/(?<![:/]/)/[^\n]*"
        # What never ends is no comment.
        rb"|/\*(?:[^*]++|\*(?!/))*+(?:\*/|(?P<no_comment>))"
        rb"|/(?:(?<=%b/)|(?<=!/)|(?<=%b /)|(?<==>/)|(?<==> /)|(?<=\breturn /))%b"
        rb"|\n(?:(?<=%b\n)|(?<==>\n))[ \t]*+/%b|%b|%b"
        % (
            *(_OPENS,) * 2,
            _expression(b"none"),
            _OPENS,
            _expression(b"also_none"),
            _quoted(b'"'),
            _quoted(b"'"),
        )
    ),
    re.DOTALL,
)


def has_code(no_code: re.Pattern[bytes], text: bytes, places: Iterable[int]) -> bool:
    """Whether one of some places in a text, in order, is code. Reads no further than that.

    >>> has_code(PYTHON, b"a # b", [4]), has_code(PYTHON, b"a # b", [0, 4])
    (False, True)
    """
    spans = (match.span() for match in no_code.finditer(text) if match.lastgroup is None)
    start, end = -1, 0
    for place in places:
        while end <= place and start < len(text):
            start, end = next(spans, (len(text), len(text) + 1))
        if place < start:
            return True
    return False
