"""What is said of a place where nothing was found, in texts of any kind."""

import pytest

from sightline.contract.standing import no_name_at, no_symbol_at
from sightline.contract.values import Position

NOTHING = "There is no name at this position, nor near it in its line."


@pytest.mark.parametrize("text", ["", "\n", "  \t", "}", "12 + 34", "😀"])
def test_a_line_without_words(text: str) -> None:
    assert no_name_at(text, Position(0, 0)) == no_symbol_at(text, Position(0, 0)) == NOTHING


@pytest.mark.parametrize("character", [2, 3, 4])
def test_a_word_begins_at_its_first_letter_and_ends_behind_its_last(character: int) -> None:
    assert no_name_at("+ ab +", Position(0, character)) == ""
    assert no_symbol_at("+ ab +", Position(0, character)).startswith(
        "The word at this position (`ab`) is not known as a symbol"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_columns_are_utf_16_in_the_line_that_was_asked_about(end: str) -> None:
    text = end.join(["first", "😀 = é_1 + $b", "last"])
    said = "There is no name at this position; near it: `é_1` at character 5, `b` at character 12."
    assert no_name_at(text, Position(1, 0)) == said
    assert no_name_at(text, Position(1, 10)) == said


def test_the_nearest_are_named_in_the_order_of_the_line() -> None:
    said = no_name_at("far a b  c d", Position(0, 8))
    assert said.partition("near it: ")[2] == (
        "`a` at character 4, `b` at character 6, `c` at character 9."
    )


def test_a_long_line_costs_little_and_long_words_are_not_repeated() -> None:
    line = "x" * 61 + " + " + "y" * 600 + "," * 1_000_000 + "near"
    assert no_name_at(line, Position(0, 700)) == NOTHING
    assert "`" not in no_symbol_at(line, Position(0, 3))
