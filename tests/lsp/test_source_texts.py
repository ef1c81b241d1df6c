"""Where a name stands in the texts of a project, whatever is known of their words by then."""

import tempfile
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.values import Position
from sightline.text.sources import SourceTexts, after_dot, offset_of, word
from sightline.text.word_files import WordFiles
from sightline.workspace.changes import Change, Kind
from tests.support.files import write_files

BYTES = st.lists(st.sampled_from([b"go", b"a_1", b".", b" ", b"-", b"\xc3\xa9", b"$", b"\n"]))
TEXT = BYTES.map(b"".join)
NAMES = st.sampled_from([b"go", b"a_1", b"goa_1", "é".encode(), b"$go", b"go-go"])


@given(st.lists(TEXT), st.lists(TEXT), NAMES)
def test_no_text_with_a_word_is_missed(before: list[bytes], now: list[bytes], name: bytes) -> None:
    known = {str(number): text for number, text in enumerate(before)}
    words = WordFiles(known)
    # Those that did not change are the same objects.
    texts = known | {str(number * 2): text for number, text in enumerate(now)}
    for each in (known, texts, texts):
        found = words.having(name, each)
        assert found == [path for path in each if path in set(found)], "their order"
        for sought in (word(name.decode()), after_dot(name.decode())):
            assert {path for path, text in each.items() if sought.starts(text)} <= set(found)


LINES = st.lists(st.sampled_from(["a", "é", "😀", " ", "\n", "\r\n", "\r"]), max_size=30)


@given(LINES.map("".join), st.integers(0, 12), st.integers(0, 12), st.integers(0, 60))
def test_offsets_and_positions_are_two_ways_to_name_a_place(
    text: str, line: int, character: int, offset: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.py"
        file.write_bytes(text.encode())
        path = str(file)
        texts = SourceTexts(lambda: [path])
        texts.search(word("a"))
    data, place = texts.text(path), Position(line, character)
    lines = data.split(b"\n")
    assert texts.line(path, line) == (lines[line] if line < len(lines) else b"")
    assert texts.offset(path, place) == offset_of(data, place)
    inside = len(data.decode()[:offset].encode())
    assert texts.offset(path, texts.position(path, inside)) == inside


def test_many_places_in_a_long_file(tmp_path: Path) -> None:
    """Were the lines before each place counted again, it would take minutes."""
    path = str(write_files(tmp_path, {"a.py": "a = a\n" * 200_000}) / "a.py")
    texts = SourceTexts(lambda: [path])
    texts.search(word("a"))
    for number in range(20_000):
        place = Position(190_000 + number % 1_000, 4)
        assert texts.name_at(path, place) == b"a"
        assert texts.offset(path, place) == place.line * 6 + 4


def words_are_known(texts: SourceTexts) -> None:
    for thread in threading.enumerate():
        if thread.name == "words":
            thread.join()
    assert texts._words is not None


async def test_a_search_finds_the_same_before_and_after_the_words_are_known(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.py" for number in range(64)]
    for number, path in enumerate(paths):
        path.write_text("# filling\n" * 800 + f"area()\nx.area{number % 2}\nother_area\n")
    texts = SourceTexts(lambda: [str(path) for path in paths if path.exists()])
    names = [word("area"), word("area1"), after_dot("area0"), word("filling"), word("nowhere")]
    first = [texts.search(each) for each in names]
    assert first[0] is not None and len(first[0]) == 64
    words_are_known(texts)
    assert [await texts.find(each) for each in names] == first
    unasked = word("other_area")
    assert texts.is_quick(word("elsewhere"), 0) and not texts.is_quick(unasked, 1_000)
    found = await texts.find(unasked)
    assert found is not None and await texts.find(unasked) is found, "what was just found is known"

    def edit(kind: int, path: Path) -> None:
        texts.changed([Change(str(path), kind)])

    paths[3].write_text("nowhere\n")
    edit(Kind.CHANGED, paths[3])
    paths[4].unlink()
    edit(Kind.DELETED, paths[4])
    assert not texts.is_quick(names[-1], 1 << 30), "something is to be read"
    assert await texts.find(names[-1]) == {str(paths[3]): [0]}
    found = await texts.find(names[0])
    assert found is not None and set(found) == {
        str(path) for path in paths if path not in paths[3:5]
    }
