"""Vectors depend on their own text alone, and no text breaks the encoder."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.runtimes import floats
from sightline.index.dense.encoder import encode_chunks, encode_query, encode_rows
from sightline.index.dense.weights import bundled
from sightline.index.dense.words import words

_SAMPLES = [
    (
        "src/net/client.py",
        "Client.send",
        "def send(self, data):\n    return self._socket.write(data)",
    ),
    ("a.go", "Parse", "func Parse(s string) (*Tree, error) { return newParser(s).parse() }"),
    ("lib/x.rs", "", "fn main() {}"),
    ("", "", ""),
    ("README.md", "Install", "Run the installer and follow the steps. " * 80),
]


def test_a_vector_is_the_same_alone_and_in_any_batch() -> None:
    weights = bundled()
    together = encode_chunks(weights, _SAMPLES * 3)
    turned = encode_chunks(weights, list(reversed(_SAMPLES)))
    for number, sample in enumerate(_SAMPLES):
        [alone] = encode_chunks(weights, [sample])
        assert np.array_equal(alone, together[number])
        assert np.array_equal(alone, together[number + 5])
        assert np.array_equal(alone, turned[len(_SAMPLES) - 1 - number])


def test_integers_give_the_vectors_that_plain_floats_of_the_same_weights_give() -> None:
    """Another forward pass, written apart: the integers are roundings of what it computes."""
    weights = bundled()
    chunks = [weights.layout.chunk(weights.vocabulary, *sample) for sample in _SAMPLES]
    asked = ["read a file", "how are lines sent to clients that wait", "x"]
    queries = [weights.layout.question(weights.vocabulary, text) for text in asked]
    for tower, rows in ((weights.chunks, chunks), (weights.queries, queries)):
        exact = encode_rows(weights, tower, rows).astype(np.float64)
        plain = floats.encode(floats.FloatTower(weights, tower), rows)
        cosines = (exact * plain).sum(axis=1) / np.linalg.norm(exact, axis=1)
        assert cosines.min() > 0.999


def test_a_query_is_the_same_alone_and_among_others() -> None:
    """Of every length: rows that are added to make four do not change the others."""
    weights = bundled()
    told = (
        "read the lines of a file and send each of them to every client that is connected".split()
    )
    texts = [" ".join(told[:count]) for count in range(len(told))]
    rows = [weights.layout.question(weights.vocabulary, text) for text in texts]
    together = encode_rows(weights, weights.queries, rows)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(encode_query(weights, text), vector)


_PROGRAM = """
import hashlib
from sightline.index.dense.encoder import encode_chunks, encode_query
from sightline.index.dense.weights import bundled
chunks = [("a/b%d.py" % n, "f%d" % n, "def f(x):\\n    return x + %d" % n) for n in range(60)]
made = encode_chunks(bundled(), chunks).tobytes()
made += encode_query(bundled(), "adds a number").tobytes()
print(hashlib.sha256(made).hexdigest())
"""


def test_threads_do_not_change_a_bit() -> None:
    found = set()
    for threads in ("1", "2", "5"):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        ran = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(ran.stdout)
    assert len(found) == 1


def test_meaning_is_nearer_than_chance() -> None:
    """A floor far below what the evidence page measures: the weights are loaded the right way."""
    weights = bundled()
    pairs = [
        (
            "read a file and return its lines",
            "def slurp(path):\n    with open(path) as f:\n        return f.readlines()",
        ),
        ("sort numbers in descending order", "def order(xs):\n    return sorted(xs, reverse=True)"),
        ("send an email message", "def notify(to, body):\n    smtp.sendmail(SENDER, to, body)"),
        ("parse json from a string", "def load(text):\n    return json.loads(text)"),
    ]
    chunks = encode_chunks(weights, [("m.py", "", code) for _, code in pairs]).astype(int)
    for number, (question, _) in enumerate(pairs):
        scores = chunks @ encode_query(weights, question).astype(int)
        assert scores[number] > (scores.sum() - scores[number]) / (len(pairs) - 1), question


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec=None), max_size=400), st.text(max_size=80), st.text(max_size=80))
def test_any_text_has_a_vector(text: str, name: str, path: str) -> None:
    weights = bundled()
    [vector] = encode_chunks(weights, [(path, name, text)])
    assert vector.shape == (weights.size,) and vector.dtype == np.int8
    assert np.array_equal(vector, encode_chunks(weights, [(path, name, text)])[0])
    assert encode_query(weights, text).shape == (weights.size,)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "aB" * 200_000,
        "_" * 500_000,
        "9" * 500_000,
        "\x00\xff\x7f" * 100_000,
        "".join(chr(plane << 16 | 0x41) for plane in range(17)) * 1_000,
        "\ud800" * 1_000,
        "é" * 300_000,
        "ab " * 300_000,
    ],
    ids=[
        "letters",
        "cases",
        "marks",
        "digits",
        "binary",
        "planes",
        "surrogates",
        "accents",
        "words",
    ],
)
def test_hostile_text_is_bounded(text: str) -> None:
    weights = bundled()
    row = weights.layout.chunk(weights.vocabulary, text, text, text)
    asked = weights.layout.question(weights.vocabulary, text)
    assert 0 < len(row.pieces) <= weights.layout.longest
    assert 0 < len(asked.pieces) <= weights.layout.query
    assert encode_chunks(weights, [(text, text, text)]).shape == (1, weights.size)
    assert encode_query(weights, text).shape == (weights.size,)


def test_words() -> None:
    assert words("parseHTTPRequests2 max_size=10") == [
        "parse", "http", "requests", "2", "max", "size", "10",
    ]  # fmt: skip
