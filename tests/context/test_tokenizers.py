"""Exact token counts instead of four bytes each: for both kinds of caches, and everywhere alike."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.cli.main import main
from sightline.context import tokens
from sightline.context.tokens import TOKENIZERS, TokenizerMissing, counter
from tests.context.support import in_process, write_documents
from tests.support.program import run
from tests.support.stdio import StdioServer

Capture = pytest.CaptureFixture[str]

#: Counts that anybody can check with the tokenizers' own programs.
KNOWN = {
    "bytes/4": {"hello world": 3, "": 0, "größe": 2},
    "cl100k_base": {"hello world": 2, "": 0, "tiktoken is great!": 6},
    "o200k_base": {"hello world": 2, "": 0, "tiktoken is great!": 6},
}
TEXT = "def total(prices):\n    return sum(price.amount for price in prices)\n" * 12


@pytest.mark.requirement("CX-tokens")
@pytest.mark.parametrize("name", TOKENIZERS)
def test_known_counts(name: str) -> None:
    count = counter(name)
    assert {text: count(text) for text in KNOWN[name]} == KNOWN[name]


@pytest.fixture
def caches(tmp_path: Path, home: Path) -> Path:
    """A folder with a cache of each kind of one text."""
    sources = write_documents(tmp_path / "sources", {"a.md": TEXT, "b.py": TEXT})
    for kind in ("v0", "code"):
        cache = tmp_path / "caches" / kind
        cache.parent.mkdir(exist_ok=True)
        build = ("build", "--sources", sources, "--cache", cache, "--profile", kind)
        assert run(home, "context", *build).returncode == 0
    return tmp_path / "caches"


@pytest.mark.parametrize("kind", ["v0", "code"])
def test_budgets_and_answers_count_alike(
    caches: Path, home: Path, kind: str, stdio: Callable[..., StdioServer]
) -> None:
    def by_command(tokenizer: str, budget: int) -> Any:
        options = ("--query", "total of prices", "--budget", str(budget), "--tokenizer", tokenizer)
        done = run(home, "context", "resolve", "--cache", caches / kind, *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    exact = by_command("o200k_base", 4_000)
    count = counter("o200k_base")
    assert exact["documents"]
    for document in exact["documents"]:
        assert document["tokens"] == count(document["content"])
    assert exact["selection"]["tokens_used"] == sum(d["tokens"] for d in exact["documents"])
    assert exact != by_command("bytes/4", 4_000)
    # What is a token too much by one way fits by the other.
    price = exact["documents"][0]["tokens"]
    assert by_command("o200k_base", price)["selection"]["tokens_used"] <= price
    assert price < by_command("bytes/4", 4_000)["documents"][0]["tokens"]

    folder = str(caches)
    server = stdio(caches, "--set", "tokenizer=o200k_base", CONTEXT_CACHE_ROOT=folder)
    server.initialize()
    asked = {"cache": kind, "query": "total of prices", "budget": 4_000}
    result = server.call("context.resolve", asked)["result"]
    assert result["structuredContent"] == exact


def test_explain_counts_the_same(caches: Path, home: Path) -> None:
    options = ("--query", "prices", "--budget", "4000", "--tokenizer", "cl100k_base")
    told = run(home, "context", "explain", "--cache", caches / "code", *options)
    done = run(home, "context", "resolve", "--cache", caches / "code", *options)
    used = json.loads(done.stdout)["selection"]["tokens_used"]
    assert f"{used} of 4000 tokens" in told.stdout


def test_a_package_that_is_not_there(
    caches: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "find_spec", lambda name: None)
    asked = ("--query", "x", "--budget", "9", "--tokenizer", "o200k_base")
    done = in_process(capfd, "resolve", "--cache", caches / "v0", *asked)
    assert (done.exit, done.stdout) == (2, "")
    assert "pipx install --force '.[tokenizers]'" in done.stderr
    with pytest.raises(TokenizerMissing):
        counter("cl100k_base")
    counter("bytes/4")


def test_a_tokenizer_that_nobody_knows(caches: Path, home: Path) -> None:
    asked = ("--query", "x", "--budget", "9", "--tokenizer", "claude")
    done = run(home, "context", "resolve", "--cache", caches / "v0", *asked)
    assert done.returncode == 2
    assert all(name in done.stderr for name in TOKENIZERS)
    served = run(home, "stdio", caches, "--set", "tokenizer=claude")
    assert served.returncode != 0 and "tokenizer must be" in served.stderr


def test_servers_say_what_keeps_them_from_starting(
    sample: Path, home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sample)
    monkeypatch.setattr(tokens, "find_spec", lambda name: None)
    monkeypatch.setenv("SIGHTLINE_TOKENIZER", "o200k_base")
    for words, code in ((["stdio"], 6), (["call", "index_status"], 6), (["doctor"], 6)):
        capfd.readouterr()
        assert main(words) == code
        said = "".join(capfd.readouterr())
        assert "counting o200k_base tokens needs the package rs-bpe" in said
        assert "pipx install --force '.[tokenizers]'" in said
    monkeypatch.setenv("SIGHTLINE_TOKENIZER", "bytes/4")
    monkeypatch.setenv("CONTEXT_CACHE_ROOT", "caches")
    assert main(["doctor"]) == 6
    assert "MISSING context: CONTEXT_CACHE_ROOT must be an absolute path\n" in "".join(
        capfd.readouterr()
    )
