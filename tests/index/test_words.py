"""Identifiers taken apart, and lists packed and unpacked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.index.searching.query import understand
from sightline.index.storage.postings import (
    decode_counted,
    decode_plain,
    encode_counted,
    encode_plain,
    read_varints,
    write_varints,
)
from sightline.index.terms.words import name_terms, raw_words, raw_words_of, terms


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("parseHTTPRequest", ["pars", "http", "request", "parsehttprequest"]),
        ("parse_http_request", ["pars", "http", "request", "parsehttprequest"]),
        ("HTTPServer2Config", ["http", "server", "config", "httpserver2config"]),
        ("URLs", ["url"]),
        ("x", []),
        ("the", []),
        ("Ärger", ["ärger"]),
        ("漢字列", ["漢字", "字列"]),
        ("a" * 100, []),
    ],
)
def test_terms(raw: str, expected: list[str]) -> None:
    assert terms(raw) == expected


@given(st.text())
def test_bytes_and_text_have_the_same_words(text: str) -> None:
    data = text.encode("utf-8", "replace")
    clean = data.decode()
    assert [word.decode() for word in raw_words_of(data)] == raw_words(clean)


@given(st.text(max_size=60))
def test_any_spelling_finds_the_whole_name(text: str) -> None:
    for raw in raw_words(text):
        assert all(term == term.casefold() or term.lower() == term for term in name_terms(raw))


@given(st.lists(st.integers(0, 2**40), max_size=80))
def test_numbers_come_back(values: list[int]) -> None:
    data, offsets = write_varints(np.array(values, np.int64))
    assert read_varints(data).tolist() == values
    assert len(offsets) == len(values) + 1


LISTS = st.dictionaries(
    st.integers(0, 30),
    st.dictionaries(st.integers(0, 200), st.integers(1, 40), min_size=1, max_size=60),
    max_size=8,
)


@given(LISTS)
def test_lists_come_back(lists: dict[int, dict[int, int]]) -> None:
    rows = [(k, d, c) for k in sorted(lists) for d, c in sorted(lists[k].items())]
    keys, documents, counts = (
        np.array([row[place] for row in rows], np.int64) for place in range(3)
    )
    data, first, _ = encode_counted(keys, documents, counts)
    plain, plain_first, dense, _ = encode_plain(keys, documents, 201)
    for place, key in enumerate(sorted(lists)):
        found, found_counts = decode_counted(data[int(first[place]) : int(first[place + 1])])
        assert found.tolist() == sorted(lists[key])
        assert found_counts.tolist() == [min(16, c) for _, c in sorted(lists[key].items())]
        own = plain[int(plain_first[place]) : int(plain_first[place + 1])]
        assert decode_plain(own, dense=bool(dense[place])).tolist() == sorted(lists[key])


@given(st.text(max_size=300))
def test_any_text_is_a_query(text: str) -> None:
    query = understand(text)
    assert len(query.terms) <= 96 and len(query.names) <= 24 and len(query.phrases) <= 8
