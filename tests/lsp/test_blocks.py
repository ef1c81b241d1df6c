"""What a line of Python is in: found from that line on upwards, as from the first line on."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.unaccounted.class_hierarchy import Blocks, openers
from sightline.text.code import PYTHON
from sightline.text.spans import spans_of

LINES = (
    *(
        "class A:",
        "def f(",
        "async def f():",
        ")",
        "x = 1",
        "",
        "# c",
        '"""text',
        "from a import (",
    ),
    *(
        "    x",
        "    def g():",
        "        y",
        "    ) -> None:",
        "        )",
        "  class B:",
        "\tz",
        "    # d",
    ),
)


@given(st.lists(st.sampled_from(LINES), max_size=14))
def test_a_line_is_in_the_same_from_both_ends(lines: list[str]) -> None:
    text = "\n".join(lines).encode()
    no_code = spans_of(PYTHON, text)
    whole = openers(Blocks(text, no_code).lines(0, len(lines)))
    single = [Blocks(text, no_code).opener(number) for number in range(len(whole))]
    assert single == list(whole)
    kept = Blocks(text, no_code)
    assert [kept.opener(number) for _ in range(3) for number in range(len(whole))] == [*whole] * 3


def test_many_lines_are_gone_through_once() -> None:
    text = b"class A:\n" + b"    x = 1\n" * 20_000
    blocks = Blocks(text, spans_of(PYTHON, text))
    assert {blocks.opener(number) for number in range(1, 20_000)} == {("class", 0)}
    assert "openers" in vars(blocks), "all at once, when one after the other takes longer"
