"""English word stems after Porter's algorithm, so that "caching", "cached" and "caches" meet.

The algorithm takes suffixes off in five steps, each only if enough of the word is left. "Enough" is
the measure: how often a vowel is followed by a consonant in what would remain. Bench figures in
docs/decisions say what it brings over plain words and over cutting plurals only.

>>> [stem(word) for word in ("caching", "caches", "queries", "connections", "relational", "is")]
['cach', 'cach', 'queri', 'connect', 'relat', 'is']
"""

from functools import lru_cache

__all__ = ["stem"]

_MARKS = {
    letter: "v" if chr(letter) in "aeiou" else "y" if chr(letter) == "y" else "c"
    for letter in range(ord("a"), ord("z") + 1)
}

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("abli", "able"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic", "ou",
)  # fmt: skip


def _by_letter(table: tuple[tuple[str, str], ...]) -> dict[str, tuple[tuple[str, str], ...]]:
    """The suffixes that end with a letter, by that letter, in their order."""
    letters = {suffix[-1] for suffix, _ in table}
    return {last: tuple(row for row in table if row[0][-1] == last) for last in letters}


_ENDS_2 = _by_letter(_STEP_2)
_ENDS_3 = _by_letter(_STEP_3)
_ENDS_4 = _by_letter(tuple((suffix, "") for suffix in _STEP_4))


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The stem of a lower-case ASCII word. Anything with a digit stays as it is."""
    if len(word) < 3 or not word.isalpha():
        return word
    word = _past_and_gerund(_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(_replace(word, _ENDS_2), _ENDS_3)
    return _tidy(_take_off(word))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_and_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            return _mend(root) if _has_vowel(root) else word
    return word


def _mend(root: str) -> str:
    """What a verb looks like once -ed or -ing is gone: hop(p), conflat(e), fil(e)."""
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if len(root) > 1 and root[-1] == root[-2] and root[-1] not in "aeioulsz":
        return root[:-1]
    if _measure(root) == 1 and _ends_short(root):
        return root + "e"
    return root


def _replace(word: str, table: dict[str, tuple[tuple[str, str], ...]]) -> str:
    for suffix, better in table.get(word[-1], ()):
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            return root + better if _measure(root) > 0 else word
    return word


def _take_off(word: str) -> str:
    for suffix, _ in _ENDS_4.get(word[-1], ()):
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            fits = suffix != "ion" or root.endswith(("s", "t"))
            return root if fits and _measure(root) > 1 else word
    return word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        root = word[:-1]
        measure = _measure(root)
        if measure > 1 or (measure == 1 and not _ends_short(root)):
            word = root
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _consonants(word: str) -> str:
    """A mark per letter: c for a consonant, v for a vowel. A y is what the one before is not."""
    marks = word.translate(_MARKS)
    place = marks.find("y")
    while place >= 0:
        mark = "v" if place and marks[place - 1] == "c" else "c"
        marks = f"{marks[:place]}{mark}{marks[place + 1 :]}"
        place = marks.find("y", place)
    return marks


def _measure(word: str) -> int:
    return _consonants(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _consonants(word)


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant, the last not w, x or y."""
    return _consonants(word).endswith("cvc") and word[-1] not in "wxy"
