"""Somebody else's text, with paths outside the roots reduced to their last component.

Where a path ends in running text cannot be told: folders may have blanks and punctuation in their
names, and nobody may find out by the answer what exists outside. So a path reaches as far as its
line allows it to, and what could be a folder of it goes; a word too many is the price. What follows
the last slash stays as it is written. Every character is looked at a few times at most.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["redact_paths"]

_COMPONENT = re.compile(r"[^\s\"'`<>()\[\]{}|:;,*?/]+")
#: A link, or an absolute path. A path must not continue a word, a relative path or a URL's host;
#: it may follow an option of a command, as in ``-I/usr/include``.
_START = re.compile(
    r"(?P<link>file:)/+|(?<![\w.~/\\-])(?P<option>--?[a-z][\w-]*)?(?!(?<=:)//)/+", re.IGNORECASE
)
#: What parts the components of a link's path, on Windows too, however it is escaped.
_STEP = re.compile(r"[/\\]|%2f|%5c", re.IGNORECASE)
#: Behind these an absolute path begins, if its first component is one of this machine.
_BETWEEN_PATHS = frozenset(" :;,=|<([{\"'`")
_NEW_START = r"(?<![\w.~/\\-])(?P<slash>/)"
_IN_EVERY_LINE = rf"[\r\n]|file:/|://|{_NEW_START}"
#: Blanks that are not within a name, and the punctuation of a sentence.
_IN_PROSE = re.compile(
    r"[^\S ]| (?=[ /]|\.{1,2}/|~/)|[.,;:!?|*'\"`](?=\s|\Z)| --?[a-z][\w-]*(?P<option>/)"
    rf"|(?P<bracket>[()\[\]{{}}<>])|{_IN_EVERY_LINE}",
    re.IGNORECASE,
)
#: In quotes, punctuation ends nothing.
_IN_QUOTES = {
    quote: re.compile(
        rf"{quote}(?![\w/])|(?P<bracket>(?!))|(?P<option>(?!))|{_IN_EVERY_LINE}", re.IGNORECASE
    )
    for quote in "'\"`"
}
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
#: What cannot be the last component, or the end of one.
_NO_NAME = " /\\\"'`<>()[]{}|:;,*?"


def redact_paths(
    text: str,
    allowed: Callable[[str], bool],
    is_local: Callable[[str], bool],
    known: Sequence[str] = (),
) -> str:
    """``text`` with links and absolute paths outside the roots reduced to their last component.

    ``allowed`` says whether a path may be shown. ``is_local`` says whether a path could name
    something on this machine: ``/api/users`` in a docstring is a route, not a path, and stays.
    ``known`` folders are recognised whatever their names hold; longer ones come first.
    """
    return _Redaction(text, allowed, is_local, known).result()


class _Reach(NamedTuple):
    """Where a path ends at the latest, and whether it is known to lead outside."""

    end: int
    outside: bool


class _Redaction:
    def __init__(
        self,
        text: str,
        allowed: Callable[[str], bool],
        is_local: Callable[[str], bool],
        known: Sequence[str],
    ) -> None:
        self._text = text
        self._allowed = allowed
        self._is_local = is_local
        self._known = known

    def result(self) -> str:
        kept: list[str] = []
        done = place = 0
        while (start := _START.search(self._text, place)) is not None:
            place = start.end()
            if not (start["link"] or self._begins_here(place)):
                continue
            begin = start.end("option") if start["option"] else start.start()
            reach = self._reach(begin, place, self._text[start.start() - 1 : start.start()])
            name, after = self._last(begin, place, reach.end)
            if name is None:
                continue
            if not reach.outside and self._may_stay(begin, name, after):
                place = max(place, reach.end)
                continue
            kept += self._text[done:begin], self._text[name:after]
            while after < reach.end and self._text[after] == "/":
                after += 1
            done = place = after
        return "".join([*kept, self._text[done:]])

    def _begins_here(self, place: int) -> bool:
        """Whether the first component after a slash is one of this machine."""
        first = _COMPONENT.match(self._text, place)
        return first is not None and self._is_local("/" + first[0])

    def _reach(self, begin: int, place: int, before: str) -> _Reach:
        """How far the path that begins here reaches at most."""
        depth, outside = 0, False
        for end in _IN_QUOTES.get(before, _IN_PROSE).finditer(
            self._text, self._known_to(begin, place)
        ):
            if end["slash"] or end["option"]:
                if not self._begins_here(end.end()):
                    continue
                # It could go on, or be another one: two may not pass for one that may be shown.
                if end["slash"] and self._could_go_on(begin, end.start()):
                    outside = outside or not self._allowed(self._path(begin, end.start()))
                    if outside:
                        continue
            elif end["bracket"]:
                if end[0] in _CLOSERS or depth:
                    depth += 1 if end[0] in _CLOSERS else -1
                    continue
                if self._is_in_name(end, before):
                    continue
            return _Reach(end.start(), outside)
        return _Reach(len(self._text), outside)

    def _known_to(self, begin: int, place: int) -> int:
        """Where a path can end at the earliest: not within a known folder."""
        for folder in self._known:
            after = begin + len(folder)
            if self._text.startswith(folder, begin) and not _COMPONENT.match(self._text, after):
                return max(place, after)
        return place

    def _could_go_on(self, begin: int, slash: int) -> bool:
        between = self._text[slash - 1]
        return between not in _BETWEEN_PATHS or (between == ":" and self._is_link(begin))

    def _is_in_name(self, closer: re.Match[str], before: str) -> bool:
        """Whether a bracket that was not opened in the path does not end it."""
        following = self._text[closer.end() : closer.end() + 1]
        return following.isalnum() or (
            following.strip() != "" and closer[0] != _CLOSERS.get(before)
        )

    def _is_link(self, begin: int) -> bool:
        return self._text[begin] != "/"

    def _last(self, begin: int, place: int, end: int) -> tuple[int | None, int]:
        """Where the last component begins and ends; ``None`` if there is none."""
        reach = self._text[place:end].rstrip(_NO_NAME)
        if not reach:
            return None, end
        if not self._is_link(begin):
            return place + reach.rfind("/") + 1, place + len(reach)
        name = 0
        for step in _STEP.finditer(reach):
            name = step.end()
        return place + name, place + len(reach)

    def _may_stay(self, begin: int, name: int, after: int) -> bool:
        if self._allowed(self._path(begin, after)):
            return True
        # The last component may have been followed by other words.
        last = None if self._is_link(begin) else _COMPONENT.match(self._text, name)
        return last is not None and self._allowed(self._path(begin, last.end()))

    def _path(self, begin: int, end: int) -> str:
        """What is named by this part of the text."""
        spelled = self._text[begin:end]
        if not self._is_link(begin):
            return "/" + spelled.lstrip("/")
        # Judged by what it names: an escape may hide a step out of a root, or spell one inside.
        rest = spelled[len("file:") :].removeprefix("//").partition("#")[0]
        return unquote(rest).replace("\\", "/")
