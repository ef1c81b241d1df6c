"""What each language is cut into: the declarations a person would name."""

import itertools
import re
from pathlib import Path

import pytest

from sightline.index.cutting.cut import cut
from sightline.index.reading.languages import LANGUAGES, language_of
from sightline.index.terms.words import raw_words_of
from sightline.text.grammars import GRAMMARS

SAMPLES_FILE = Path(__file__).with_name("samples.txt")


def read_samples() -> dict[str, tuple[str, list[str]]]:
    """Per file name: its source, and its symbols as lines."""
    _, *sections = re.split(r"^-- (.+) --\n", SAMPLES_FILE.read_text("utf-8"), flags=re.MULTILINE)
    pairs = list(zip(sections[::2], sections[1::2], strict=True))
    return {
        name: (text, lines.splitlines())
        for (name, text), (_, lines) in zip(pairs[::2], pairs[1::2], strict=True)
    }


SAMPLES = read_samples()

ASKED_FOR = set(
    """
    python typescript javascript go rust java c cpp csharp ruby php kotlin swift scala bash sql html
    css json yaml toml markdown
    """.split()
)


def symbols(name: str, text: str) -> list[str]:
    data = text.encode()
    found: list[tuple[int, int, str]] = []
    for chunk in cut(data, language_of(name, data).name):
        for symbol in chunk.symbols:
            own = symbol.name == chunk.name
            container = chunk.container if own else f"{chunk.container}.{chunk.name}".strip(".")
            line = f"{symbol.kind} {symbol.name} {container}".rstrip()
            found.append((symbol.line, symbol.column, line))
    return [line for _, _, line in sorted(found)]


def test_every_language_that_is_promised_has_a_sample() -> None:
    covered = {language_of(name).name for name in SAMPLES}
    assert covered >= ASKED_FOR and set(LANGUAGES) >= ASKED_FOR
    assert set(GRAMMARS) <= set(LANGUAGES)


def test_declarations(request: pytest.FixtureRequest) -> None:
    found = {name: symbols(name, text) for name, (text, _) in SAMPLES.items()}
    if request.config.getoption("--update-markers"):
        head = SAMPLES_FILE.read_text("utf-8").partition("-- ")[0]
        parts = [f"-- {name} --\n{text}-- symbols --\n" + "".join(f"{x}\n" for x in found[name])
                 for name, (text, _) in SAMPLES.items()]  # fmt: skip
        SAMPLES_FILE.write_text(head + "".join(parts), "utf-8")
        return
    assert found == {name: expected for name, (_, expected) in SAMPLES.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_positions_are_where_the_name_stands(name: str) -> None:
    text, _ = SAMPLES[name]
    lines = text.split("\n")
    for chunk in cut(text.encode(), language_of(name, text.encode()).name):
        for symbol in chunk.symbols:
            rest = lines[symbol.line][symbol.column :]
            assert rest.lstrip("#.\"'").startswith(symbol.name.lstrip("#."))


def test_columns_count_utf16_units() -> None:
    (chunk,) = cut("/* 𝔸é */ function take() {}\n".encode(), "javascript")
    assert (chunk.symbols[0].line, chunk.symbols[0].column) == (0, 19)


@pytest.mark.parametrize("name", SAMPLES)
def test_chunks_share_no_text_and_leave_no_word_out(name: str) -> None:
    """What makes counts over chunks add up to counts over files."""
    data = SAMPLES[name][0].encode()
    chunks = cut(data, language_of(name, data).name)
    spans = sorted(span for chunk in chunks for span in chunk.spans)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    covered = [word for start, end in spans for word in raw_words_of(data[start:end])]
    assert covered == raw_words_of(data)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("end", [0.3, 0.6, 0.9])
def test_half_a_file_is_still_cut(name: str, end: float) -> None:
    text = SAMPLES[name][0]
    half = text[: int(len(text) * end)].encode()
    assert cut(half, language_of(name, half).name)
