"""The golden's own reading: caveats, what covers a miss, lines of answers, indexes of others."""

from pathlib import Path

from bench.golden.asking import Answer
from bench.golden.bases import BASES
from bench.golden.caveats import caveats
from bench.golden.compare import compare, line_of, read_lines
from bench.golden.sample import Question
from bench.golden.scip import ScipIndex
from bench.golden.truth import Truth, read

ASKED = ("a.py", 1, 4)
TOLD = {ASKED: "ps", ("b.py", 2, 0): "p", ("b.py", 3, 0): "s"}


def compared(root: Path, summary: str, *places: tuple[str, int, int]) -> dict[str, str]:
    """How each place that is missing is missing."""
    for file in ("a.py", "b.py"):
        (root / file).write_text("def f(): ...\nf\nf\n", encoding="utf-8")
    truth = Truth(Question(*ASKED, "f", "function", 3), TOLD)
    found = compare(root, truth, Answer(frozenset(places), summary, "", 1.0))
    return {f"{miss.place[0]}:{miss.place[1]}": miss.how for miss in found.misses}


def test_a_sentence_covers_the_files_it_names(tmp_path: Path) -> None:
    said = "f also occurs in 1 place where the type is unknown (b.py); it may be a use."
    other = said.replace("b.py", "c.py")
    assert compared(tmp_path, f"Returned 1 reference. {said}", ASKED)["b.py:2"] == "said"
    assert compared(tmp_path, f"Returned 1 reference. {other}", ASKED)["b.py:2"] == "silent"


def test_a_sentence_that_names_some_files_may_mean_another(tmp_path: Path) -> None:
    said = "f also occurs in 9 places not checked (c.py, d.py, e.py, 2 more); they may be uses."
    assert compared(tmp_path, f"Returned 1 reference. {said}", ASKED)["b.py:2"] == "said"


def test_a_sentence_without_files_is_general(tmp_path: Path) -> None:
    said = "Returned 1 reference. Procedural macros are not expanded; uses may be missing."
    assert compared(tmp_path, said, ASKED)["b.py:2"] == "general"


def test_what_only_an_index_names_is_disputed(tmp_path: Path) -> None:
    found = compared(tmp_path, "Returned 1 reference.", ASKED)
    assert found == {"b.py:2": "silent", "b.py:3": "disputed"}


def test_places_outside_the_workspace_are_no_caveat() -> None:
    assert caveats("Returned 8 references. 2 outside the workspace not shown.") == []


def test_a_line_of_answers_is_read_as_it_was_written(tmp_path: Path) -> None:
    for file in ("a.py", "b.py"):
        (tmp_path / file).write_text("def f(): ...\nf\nf\n", encoding="utf-8")
    truth = Truth(Question(*ASKED, "f", "function", 3), TOLD)
    answer = Answer(frozenset({ASKED, ("c.py", 7, 0)}), "Returned 2 references.", "", 1.0)
    line = line_of(compare(tmp_path, truth, answer))
    (again,) = read_lines(line)
    assert line_of(again) == line
    assert again.added == (("c.py", 7, 0),)


def test_an_index_of_scip_gives_the_places_of_a_symbol(tmp_path: Path) -> None:
    def field(number: int, content: bytes) -> bytes:
        return bytes([number << 3 | 2, len(content)]) + content

    def occurrence(symbol: str, *numbers: int) -> bytes:
        return field(2, field(1, bytes(numbers)) + field(2, symbol.encode()))

    first = field(1, b"a.py") + occurrence("pkg f().", 0, 4, 5) + occurrence("local 1", 3, 0, 1)
    second = field(1, b"b.py") + occurrence("pkg f().", 1, 0, 1) + occurrence("local 1", 9, 0, 1)
    file = tmp_path / "index.scip"
    file.write_bytes(field(2, first) + field(2, second))
    index = ScipIndex(file)
    assert index.references(("b.py", 2, 0)) == {("a.py", 1, 4), ("b.py", 2, 0)}
    assert index.references(("a.py", 4, 0)) == {("a.py", 4, 0)}
    assert index.references(("a.py", 8, 0)) == set()


def test_every_code_base_has_its_questions_and_answers() -> None:
    answers = Path(__file__).parents[2] / "bench/golden/answers"
    for base in BASES.values():
        asked = [f"{q.path}:{q.line}:{q.column}" for q, _ in read(base)]
        text = (answers / f"{base.name}.txt").read_text(encoding="utf-8")
        assert [each.place for each in read_lines(text)] == asked, base.name
        assert len(set(asked)) == base.questions


def test_a_sentence_covers_as_many_lines_as_it_counts(tmp_path: Path) -> None:
    said = (
        "Returned 0 references. f stands on values of unknown type in 1 place (b.py); not counted."
    )
    found = compared(tmp_path, said)
    assert found == {"a.py:1": "silent", "b.py:2": "said", "b.py:3": "disputed"}
    three = TOLD | {("b.py", 4, 0): "p"}
    (tmp_path / "b.py").write_text("f\n" * 5, encoding="utf-8")
    truth = Truth(Question(*ASKED, "f", "function", 3), three)
    again = compare(tmp_path, truth, Answer(frozenset(), said, "", 1.0))
    assert {miss.place: miss.how for miss in again.misses}["b.py", 4, 0] == "silent"


def test_an_answer_without_the_place_that_was_asked_about_says_so(tmp_path: Path) -> None:
    for file in ("a.py", "b.py"):
        (tmp_path / file).write_text("def f(): ...\nf\nf\n", encoding="utf-8")
    truth = Truth(Question(*ASKED, "f", "function", 3), TOLD)
    answer = Answer(frozenset({("b.py", 2, 0)}), "Returned 1 reference.", "", 1.0)
    assert compare(tmp_path, truth, answer).result == "1 without-itself"
