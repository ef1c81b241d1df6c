"""Text search: which lines hold a literal or match a pattern, checked in the files themselves.

Trigrams say which files can have a match; each of those is read and searched, source before tests
and docs, in the order of paths, until enough is found. Nothing is answered that was not seen in the
file. Patterns run on RE2, in time linear in the text, whatever the pattern is.

A hit is a run of matching lines of one chunk, at most as many as a snippet shows, so that the hits
of a file have every matching line, each once per chunk, in the order of the file.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.contract.failures import InvalidArguments
from sightline.index.reading.roles import Role
from sightline.index.searching.filters import Scope
from sightline.index.searching.hits import WHOLE, Part
from sightline.index.searching.lookup import Lookup
from sightline.index.searching.patterns import ANY, Need, needed
from sightline.index.searching.results import Found, Records, Results
from sightline.index.searching.returns import without_returns
from sightline.index.searching.texts import Texts
from sightline.index.storage.postings import contains
from sightline.index.storage.segment import term_key
from sightline.index.storage.snapshot import Snapshot
from sightline.index.terms.stems import stem
from sightline.index.terms.trigrams import text_codes
from sightline.index.terms.words import STOPWORDS, compact
from sightline.workspace.linear import BadPattern, Expression, compile_expression

__all__ = ["MAX_HITS", "MAX_MATCHES", "MAX_STEPS", "Scanner", "compile_pattern"]

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: At most this many hits are answered.
MAX_HITS = 10_000
#: After the file with the match of this number no other is searched: a pattern that matches every
#: character must not go through a large tree, where few of its chunks pass the filters.
MAX_MATCHES = 1_000_000
#: Steps of a compiled pattern. Each character of a text may take as many: a megabyte takes seconds
#: per thousand, and nothing can stop it there. What RE2 repeats a thousand times has up to 11,000.
MAX_STEPS = 12_000
#: So few files are sooner read than ruled out by another trigram.
_FEW = 4
_MAX_EITHER = 40

#: In which order roles are searched, and what a match there counts.
_SCORES = {
    Role.SOURCE: 1.0,
    Role.CONFIG: 0.8,
    Role.EXAMPLE: 0.7,
    Role.TEST: 0.6,
    Role.DOCS: 0.5,
    Role.GENERATED: 0.4,
    Role.VENDORED: 0.3,
}
_DOWN = np.array([-_SCORES[role] for role in sorted(Role)])
_DECLARES = 2.0
_WORD = re.compile(r"\w+")
_MAX_WORD = 40
#: How a pattern asks for a carriage return. Escaped backslashes and quoted text, in which a
#: backslash is one, are read over first.
_RETURN = re.compile(
    r"\\\\|\\Q.*?(?:\\E|\Z)|(?P<asks>\\r|\\x0[dD]|\\x\{0*[dD]\}|\\0?15)", re.DOTALL
)

#: What people who know other engines most often mean by what RE2 does not know.
_LACKS = {
    "invalid perl operator": "; RE2 has no look-ahead and no look-behind",
    "invalid escape sequence": "; RE2 has no backreferences, and a backslash itself is \\\\",
    "invalid repetition size": "; RE2 repeats at most 1,000 times, nested repetitions multiplied",
}
_EMPTY = "Empty matches are not counted."

Span = tuple[int, int]
Finder = Callable[[bytes], Iterator[Span]]


def compile_pattern(pattern: str) -> Expression:
    """A user's pattern. ``^`` and ``$`` stand for lines, as in grep."""
    try:
        compiled = compile_expression(f"(?m){pattern}")
    except BadPattern as bad:
        reason = str(bad).partition(": ")[0][:120]
        more = _LACKS.get(reason, "")
        raise InvalidArguments(
            f"query is not a regular expression (RE2 syntax): {reason}{more}"
        ) from None
    if compiled.steps > MAX_STEPS:
        raise InvalidArguments(
            f"query is too large a regular expression ({compiled.steps:,} steps of at most "
            f"{MAX_STEPS:,}); repeat less often, and no large classes such as \\p{{L}}"
        )
    return compiled


def _asks_for_returns(pattern: str) -> bool:
    """Whether a pattern gets to see carriage returns.

    >>> [_asks_for_returns(pattern) for pattern in (r"a\\r", r"\\\\ref$", r"\\\\\\r")]
    [True, False, True]
    """
    return "\r" in pattern or any(match["asks"] for match in _RETURN.finditer(pattern))


def _first_sign(data: bytes, start: int, end: int) -> int:
    """Where a match has its first byte that is not blank; its start if it has none."""
    if not data[start : start + 1].isspace():
        return start
    signs = data[start:end].lstrip()
    return end - len(signs) if signs else start


def _inner_words(text: str) -> list[str]:
    """The words that stand whole in every text with this phrase, as they are indexed.

    What touches an end of the phrase may be part of a longer word there. A word is indexed by its
    stem, or whole if the text spells it as several parts (see ``words``).
    """
    return [
        word
        for match in _WORD.finditer(text)
        if match.start() > 0
        and match.end() < len(text)
        and match[0].isascii()
        and match[0].lower() not in STOPWORDS
        and 1 < len(word := compact(match[0])) <= _MAX_WORD
    ]


def _distinct(numbers: Ints) -> Ints:
    """Ascending numbers, each once."""
    return numbers[np.diff(numbers, prepend=-1) > 0]


@dataclass(slots=True)
class _Run:
    """Matching lines of one chunk that follow each other in the file."""

    number: int
    #: The first match of each line.
    spans: list[Span]
    first: int
    last: int
    #: Where this part of the chunk begins and ends, where it is not all of it.
    start: int = WHOLE
    end: int = WHOLE
    #: How many matches begin in it.
    count: int = 1


@dataclass(slots=True)
class _Seen:
    """What was found in a file."""

    runs: list[_Run]
    #: All matches, also those in chunks that do not pass the filters.
    all: int = 0
    matches: int = 0
    lines: int = 0


class Scanner(NamedTuple):
    snapshot: Snapshot
    lookup: Lookup
    texts: Texts
    records: Records
    #: Raises when the search was cancelled.
    check: Callable[[], None]
    #: How many matching lines a hit has at most.
    lines: int = 10

    def literal(self, text: str, scope: Scope) -> Results:
        """The chunks that hold ``text``, letter for letter."""
        needle = text.encode("utf-8", "replace")
        any_end = b"\r" not in needle

        def find(data: bytes) -> Iterator[tuple[int, int]]:
            place = data.find(needle)
            while place >= 0:
                yield place, place + len(needle)
                place = data.find(needle, place + len(needle))

        lines = needle.split(b"\n") if any_end else [needle]
        codes = sorted({code for line in lines for code in text_codes(line)})
        candidates = self._with_codes(codes) & scope.files
        declared = self.lookup.terms(self.snapshot, term_key("s" + text)).chunks
        finder = partial(without_returns, find) if any_end else find
        return self._scan(candidates, finder, scope, set(declared.tolist()))

    def pattern(self, pattern: str, scope: Scope) -> Results:
        """The chunks in which a pattern matches something."""
        compiled = compile_pattern(pattern)
        candidates = self._needing(needed(pattern)) & scope.files
        any_end = not _asks_for_returns(pattern)
        spans = partial(compiled.spans, check=self.check)
        finder = partial(without_returns, spans) if any_end else spans
        results = self._scan(candidates, finder, scope, set())
        return results._replace(note=_EMPTY) if compiled.can_be_empty() else results

    def chunks_with(self, text: str, scope: Scope, limit: int) -> list[int] | None:
        """The chunks with a phrase, ignoring ASCII case; ``None`` if too many files may have it."""
        needle = text.encode("utf-8", "replace").lower()
        codes = text_codes(needle)
        if not codes:
            return None
        chunks = self._with_words(_inner_words(text))
        if chunks is None:
            files = np.flatnonzero(self._with_codes(codes) & scope.files)
        else:
            chunks = chunks[scope.chunks[chunks]]
            files = _distinct(self.snapshot.chunk_file[chunks])
            for code in codes:
                if len(files) <= _FEW:
                    break
                files = files[self.lookup.among(self.snapshot, code, files)]
        if len(files) > limit:
            return None
        found: set[int] = set()
        for file in files.tolist():
            self.check()
            data = self.texts.of(file).lower()
            first = int(self.snapshot.chunk_first[file])
            place = data.find(needle)
            while place >= 0:
                number = self.records.of(file).owner(place)
                if number is not None:
                    found.add(first + number)
                place = data.find(needle, place + 1)
        within = sorted(chunk for chunk in found if scope.chunks[chunk])
        if chunks is None or not within:
            return within
        both: list[int] = np.intersect1d(within, chunks, assume_unique=True).tolist()
        return both

    def holding(self, name: str, scope: Scope, limit: int) -> list[int] | None:
        """The chunks in which a name stands as a word, spelled so, or else in another case.

        ``None`` if that cannot be told. Where too many files may have it, the word lists decide.
        """
        needle = name.encode("utf-8", "replace")
        codes = text_codes(needle)
        if not codes:
            return None
        word = compact(name)
        is_listed = name.isascii() and name.lower() not in STOPWORDS and len(word) <= _MAX_WORD
        chunks = self._with_words([word]) if is_listed and len(word) > 1 else None
        if chunks is None:
            files = np.flatnonzero(self._with_codes(codes) & scope.files)
        else:
            chunks = chunks[scope.chunks[chunks]]
            files = _distinct(self.snapshot.chunk_file[chunks])
            for code in codes:
                files = files[self.lookup.among(self.snapshot, code, files)]
        if len(files) > limit:
            if chunks is None:
                return None
            kept: list[int] = chunks[np.isin(self.snapshot.chunk_file[chunks], files)].tolist()
            return kept
        return self._with_word_in(files, needle, scope)

    def _with_word_in(self, files: Ints, needle: bytes, scope: Scope) -> list[int]:
        """The chunks of some files that have a word, spelled so, or else in another case."""
        word = re.compile(
            rb"(?<![\w\x80-\xff])" + re.escape(needle) + rb"(?![\w\x80-\xff])", re.IGNORECASE
        )
        exactly: set[int] = set()
        loosely: set[int] = set()
        for file in files.tolist():
            self.check()
            first = int(self.snapshot.chunk_first[file])
            for match in word.finditer(self.texts.of(file)):
                number = self.records.of(file).owner(match.start())
                if number is not None and scope.chunks[first + number]:
                    (exactly if match[0] == needle else loosely).add(first + number)
        return sorted(exactly or loosely)

    def _with_words(self, words: list[str]) -> Ints | None:
        """The chunks that have all the words, in any mixture of cases, ascending."""
        lists = sorted(
            (self._with_word(word) for word in words), key=lambda own: sum(map(len, own))
        )
        if not lists:
            return None
        fewest, *others = lists
        kept = fewest[0] if len(fewest) == 1 else _distinct(np.sort(np.concatenate(fewest)))
        for own in others:
            if not len(kept):
                break
            has = [contains(found, kept) for found in own]
            kept = kept[has[0] if len(has) == 1 else np.logical_or(*has)]
        return kept

    def _with_word(self, word: str) -> list[Ints]:
        """The chunks that have a word, in one or two lists: under its stem, and whole where it has
        several parts."""
        forms = sorted({stem(word), word})
        lists = [self.lookup.terms(self.snapshot, term_key("b" + form)).chunks for form in forms]
        return [found for found in lists if len(found)] or lists[:1]

    # Which files

    def _with_codes(self, codes: list[int]) -> Flags:
        """The files that have all the trigrams; where few are left, perhaps a few more."""
        flags: Flags = self.snapshot.file_alive.copy()
        sized = sorted((self._size(code), code) for code in codes)
        for size, code in sized:
            if size == 0:
                return np.zeros(self.snapshot.files, bool)
            flags &= self.lookup.having(self.snapshot, code)
            if np.count_nonzero(flags) <= _FEW:
                break
        return flags

    def _size(self, code: int) -> int:
        """About how long a trigram's lists are."""
        total = 0
        for part in self.snapshot.parts:
            columns = part.segment.columns
            keys = columns["gram_keys"]
            place = int(np.searchsorted(keys, np.uint32(code)))
            if place < len(keys) and int(keys[place]) == code:
                dense = bool(columns["gram_dense"][place])
                size = int(columns["gram_first"][place + 1]) - int(columns["gram_first"][place])
                total += part.segment.files if dense else size
        return total

    def _needing(self, need: Need) -> Flags:
        flags = self._with_codes(sorted(need.trigrams))
        for options in need.either:
            if len(options) > _MAX_EITHER or ANY in options:
                continue
            some = np.zeros(self.snapshot.files, bool)
            for option in options:
                some |= self._needing(option)
                self.check()
            flags &= some
        return flags

    # In the files

    def _scan(self, candidates: Flags, find: Finder, scope: Scope, declared: set[int]) -> Results:
        found: list[Found] = []
        matches = lines = seen = 0
        capped = False
        for _, down, path, file in self._ordered(candidates & scope.with_chunks, declared):
            self.check()
            if len(found) >= MAX_HITS or seen >= MAX_MATCHES:
                capped = True
                break
            data = self.texts.read(path)
            first, end = self.snapshot.chunk_first[file : file + 2].tolist()
            within = self._within(file, data, find(data), scope.chunks[first:end].tolist())
            seen += within.all
            matches += within.matches
            lines += within.lines
            for run in within.runs:
                chunk = first + run.number
                bonus = _DECLARES if chunk in declared else 0.0
                part = Part(run.first, run.last, run.start, run.end, run.count)
                found.append(Found(chunk, bonus - down, tuple(run.spans), part))
        ordered = self._sorted(found)
        capped = capped or len(found) > MAX_HITS
        return Results(ordered[:MAX_HITS], capped=capped, matches=matches, lines=lines)

    def _within(
        self, file: int, data: bytes, spans: Iterable[Span], passing: Sequence[bool]
    ) -> _Seen:
        """The runs of matching lines in a file, in order, of the chunks that pass.

        Indentation and empty lines belong to what is around a declaration. A match that begins
        there is the declaration's, and begins with it.
        """
        seen = _Seen([])
        runs: dict[int, _Run] = {}
        current: _Run | None = None
        owner = self.records.of(file).owner
        line = reached = 0
        last_line = -1
        for start, end in spans:
            # Each match may take a walk to the end of the file.
            self.check()
            sign = _first_sign(data, start, end)
            number = owner(sign)
            if number is None:
                continue
            seen.all += 1
            if not passing[number]:
                continue
            begin = start if sign == start or owner(start) == number else sign
            line += data.count(b"\n", reached, begin)
            reached = begin
            seen.matches += 1
            seen.lines += line != last_line
            last_line = line
            before = runs.get(number)
            if before is not None and before.last == line:
                before.count += 1
            elif before is not None and before is current and len(before.spans) < self.lines:
                before.spans.append((begin, end))
                before.last = line
                before.count += 1
            else:
                current = runs[number] = _Run(number, [(begin, end)], line, line)
                seen.runs.append(current)
                if before is not None:
                    before.end, current.start = line - 1, line
        return seen

    def _ordered(self, candidates: Flags, declared: set[int]) -> list[tuple[bool, float, str, int]]:
        """Files that declare the text first, then by role, then by path: (whether it does not,
        what a match counts, negated, path, number)."""
        first = {int(self.snapshot.chunk_file[chunk]) for chunk in declared}
        files = np.flatnonzero(candidates)
        paths = self.snapshot.paths
        scores = _DOWN[self.snapshot.roles[files]].tolist()
        return sorted(
            (file not in first, down, paths[file], file)
            for file, down in zip(files.tolist(), scores, strict=True)
        )

    def _sorted(self, found: list[Found]) -> list[Found]:
        """By score; what was found came in the order of paths and lines."""
        return sorted(found, key=lambda entry: -entry.score)
