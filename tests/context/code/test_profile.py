"""Caches of code and the live index, through the command and over MCP, on a small shop."""

import contextlib
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sightline.context.code.export import export
from sightline.context.code.read import CodeCache
from sightline.context.files import CacheFolder
from sightline.context.opening import open_code
from sightline.index.dense.nearness import Matrix
from tests.context.support import VECTORS, files_of
from tests.support.program import command, environment, run
from tests.support.stdio import StdioServer

SCHEMA = json.loads(
    (VECTORS / "stored/compat/schemas/selection_result.schema.json").read_text("utf-8")
)
SHOP = {
    "shop/cart.py": '''
        """Carts."""

        from shop.prices import discounted, rounded


        class Cart:
            """What a customer wants to buy."""

            currency = "EUR"

            def __init__(self):
                self.lines = []

            def checkout_total(self, voucher):
                """The sum to pay at checkout, after a voucher."""
                total = 0
                for line in self.lines:
                    total += line.amount * line.price
                self.check_voucher(voucher)
                return rounded(discounted(total, voucher))

            def check_voucher(self, voucher):
                """Refuses expired vouchers."""
                if voucher.expired:
                    raise ValueError("expired")
                if voucher.used:
                    raise ValueError("used")
                return voucher

            def clear(self):
                self.lines.clear()
        ''',
    "shop/prices.py": '''
        """Prices."""


        def discounted(amount, voucher):
            """The amount less what a voucher is worth."""
            if voucher is None:
                return amount
            rate = voucher.rate
            for rule in voucher.rules:
                rate = rule(rate)
            return amount - amount * rate


        def rounded(amount):
            return round(amount, 2)


        def copied(amount):
            return round(amount, 2) if amount else round(amount, 3)
        ''',
    "shop/copy.py": """
        def copied(amount):
            return round(amount, 2) if amount else round(amount, 3)
        """,
    "tests/test_cart.py": """
        from shop.cart import Cart


        def test_checkout_total_with_voucher():
            assert Cart().checkout_total(None) == 0
        """,
    "README.md": "# Shop\n\nThe checkout total of a cart, with a voucher.\n",
}
QUESTION = "checkout total of a cart with a voucher"


@pytest.fixture
def shop(workspace: Callable[[dict[str, str]], Path]) -> Path:
    return workspace(SHOP)


def built(home: Path, sources: Path, cache: Path, *more: str) -> Path:
    done = run(
        home, "context", "build", "--sources", sources, "--cache", cache, "--profile", "code", *more
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return cache


def resolved(home: Path, cache: Path, query: str = QUESTION, budget: int = 4000) -> Any:
    done = run(
        home, "context", "resolve", "--cache", cache, "--query", query, "--budget", str(budget)
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    jsonschema_rs.validate(SCHEMA, answer)
    return answer


def contents(answer: Any) -> dict[str, str]:
    return {document["id"]: document["content"] for document in answer["documents"]}


@pytest.mark.requirement("CX-code-build")
def test_a_cache_of_code(home: Path, shop: Path, tmp_path: Path) -> None:
    cache = built(home, shop, tmp_path / "cache")
    manifest = json.loads((cache / "manifest.json").read_text("utf-8"))
    assert manifest["build_config"] == {"version": "code-2", "hash_algorithm": "sha256"}
    ids = [document["id"] for document in manifest["documents"]]
    assert ids == sorted(ids)
    assert "shop/cart.py::Cart.checkout_total" in ids
    assert "README.md::Shop" in ids
    inspected = run(home, "context", "inspect", "--cache", cache)
    assert json.loads(inspected.stdout)["valid"] is True
    assert json.loads(inspected.stdout)["document_count"] == len(ids)
    again = run(home, "context", "build", "--sources", shop, "--cache", cache, "--profile", "code")
    assert again.returncode == 6
    assert "already exists" in again.stderr


@pytest.mark.requirement("CX-code-selection")
def test_what_is_taken(home: Path, shop: Path, tmp_path: Path) -> None:
    cache = built(home, shop, tmp_path / "cache")
    answer = resolved(home, cache)
    found = contents(answer)
    first = answer["documents"][0]
    assert first["id"] == "shop/cart.py::Cart.checkout_total"
    assert "return rounded(discounted(total, voucher))" in first["content"]
    assert 'class Cart:\n    """What a customer wants to buy."""' in found["shop/cart.py::Cart"]
    assert "def discounted(amount, voucher):" in found["shop/prices.py::discounted"]
    assert "def check_voucher(self, voucher):" in found["shop/cart.py::Cart.check_voucher"]
    assert not any(name.startswith(("tests/", "README")) for name in found)
    for document in answer["documents"]:
        digest = hashlib.sha256(document["content"].encode()).hexdigest()
        assert document["version"] == f"sha256:{digest}"
        assert document["tokens"] == -(-len(document["content"].encode()) // 4)
        assert 0 <= document["score"] <= 1
        assert 0 <= document["why"]["term_matches"] <= document["why"]["total_words"]
    assert [d["score"] for d in answer["documents"]] == sorted(
        (d["score"] for d in answer["documents"]), reverse=True
    )
    assert set(first["why"]["query_terms"]) == {"checkout", "total", "voucher"}


@pytest.mark.requirement("CX-code-selection")
def test_tests_come_when_asked_for_and_equal_texts_once(
    home: Path, shop: Path, tmp_path: Path
) -> None:
    cache = built(home, shop, tmp_path / "cache")
    asked = contents(resolved(home, cache, "tests of the checkout total"))
    assert "tests/test_cart.py::test_checkout_total_with_voucher" in asked
    copies = contents(resolved(home, cache, "copied"))
    assert len([name for name in copies if name.endswith("::copied")]) == 1
    only_docs = contents(resolved(home, cache, "readme"))
    assert any(name.startswith("README.md") for name in only_docs)
    assert resolved(home, cache, "")["documents"] == []


@pytest.mark.requirement("CX-code-budget")
def test_a_ladder_of_budgets(home: Path, shop: Path, tmp_path: Path) -> None:
    cache = built(home, shop, tmp_path / "cache")
    full = contents(resolved(home, cache))["shop/cart.py::Cart.checkout_total"]
    sizes = []
    for budget in (0, 10, 30, 60, 120, 240, 480):
        answer = resolved(home, cache, budget=budget)
        used = sum(document["tokens"] for document in answer["documents"])
        assert used == answer["selection"]["tokens_used"] <= budget
        sizes.append(used)
    assert sizes == sorted(sizes)
    assert sizes[0] == 0 < sizes[2]
    short = contents(resolved(home, cache, budget=40))["shop/cart.py::Cart.checkout_total"]
    assert short.startswith("    def checkout_total(self, voucher):")
    assert short.endswith("...")
    assert len(short) < len(full)


@pytest.mark.requirement("CX-code-deterministic")
def test_the_same_bytes_in_three_processes_and_after_any_history(
    home: Path, shop: Path, tmp_path: Path
) -> None:
    cache = built(home, shop, tmp_path / "cache")
    words = ("context", "resolve", "--cache", str(cache), "--query", QUESTION, "--budget", "300")
    answers = {
        subprocess.run(
            command(*words),
            capture_output=True,
            check=True,
            timeout=60,
            env=environment(home) | {"PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (0, 1, 2)
    }
    assert len(answers) == 1
    (shop / "shop" / "new.py").write_text("def voucher_of(cart):\n    return cart\n", "utf-8")
    (shop / "shop" / "copy.py").unlink()
    built(home, shop, cache, "--force")
    other = tmp_path / "other-home"
    other.mkdir()
    fresh = built(other, shop, tmp_path / "fresh")
    assert files_of(cache) == files_of(fresh)


@pytest.mark.requirement("CX-code-live")
def test_the_live_index_answers_like_the_cache_and_is_fresh(
    home: Path, shop: Path, tmp_path: Path, stdio: Callable[..., StdioServer]
) -> None:
    root = tmp_path / "caches"
    root.mkdir()
    built(home, shop, root / "shop")
    server = stdio(shop, "--tools", "index,context", CONTEXT_CACHE_ROOT=str(root))
    server.initialize()

    def ask(cache: str, query: str = QUESTION) -> Any:
        asked = {"cache": cache, "query": query, "budget": 400}
        return server.call("context.resolve", asked)["result"]

    assert server.call("index_build", {})["result"]["isError"] is False
    live = ask(f"workspace:{shop.name}")
    assert live["isError"] is False
    assert live == ask("shop")
    jsonschema_rs.validate(SCHEMA, live["structuredContent"])
    assert str(shop) not in json.dumps(live)
    changed = (shop / "shop" / "prices.py").read_text(
        "utf-8"
    ) + "\n\ndef gift_wrapped(cart):\n    return cart\n"
    (shop / "shop" / "prices.py").write_text(changed, "utf-8")
    found = contents(ask(f"workspace:{shop.name}", "gift wrapped")["structuredContent"])
    assert "shop/prices.py::gift_wrapped" in found
    older = contents(ask("shop", "gift wrapped")["structuredContent"])
    assert "shop/prices.py::gift_wrapped" not in older
    inspected = server.call("context.inspect_cache", {"cache": "shop"})["result"]
    assert inspected["structuredContent"]["valid"] is True


@pytest.mark.requirement("CX-code-live")
def test_a_live_index_that_is_not_there(shop: Path, stdio: Callable[..., StdioServer]) -> None:
    both = stdio(shop, "--tools", "index,context")
    alone = stdio("--tools", "context")
    both.initialize()
    alone.initialize()
    for server, name in (
        (both, "workspace:other"),
        (both, f"workspace:{shop.name}"),
        (alone, f"workspace:{shop.name}"),
    ):
        asked = {"cache": name, "query": "x", "budget": 10}
        result = server.call("context.resolve", asked)["result"]
        assert json.loads(result["content"][0]["text"])["error"]["code"] == "cache_missing"


@pytest.mark.requirement("CX-code-explain")
def test_explain_says_why(home: Path, shop: Path, tmp_path: Path) -> None:
    cache = built(home, shop, tmp_path / "cache")
    words = ("context", "explain", "--cache", cache, "--query", QUESTION, "--budget", "200")
    done = run(home, *words)
    assert done.returncode == 0
    assert "called by shop/cart.py::Cart.checkout_total" in done.stdout
    assert "class of shop/cart.py::Cart.checkout_total" in done.stdout
    assert "full" in done.stdout
    assert run(home, *words).stdout == done.stdout


@pytest.mark.requirement("CX-code-live", "CX-code-explain")
def test_a_folder_is_asked_without_a_cache(home: Path, shop: Path, tmp_path: Path) -> None:
    for empty in ("shop/py.typed", "shop/voucher.py", "checkout/__init__.py"):
        (shop / empty).parent.mkdir(exist_ok=True)
        (shop / empty).touch()  # nothing can be taken from it, so it must not count
    cache = built(home, shop, tmp_path / "cache")
    words = ("--query", QUESTION, "--budget", "200")
    for action in ("resolve", "explain"):
        known = run(home, "context", action, "--cache", cache, *words)
        live = run(home, "context", action, "--cache", f"workspace:{shop}", *words)
        assert (live.returncode, live.stdout) == (0, known.stdout)
    (shop / "shop/cart.py").unlink()
    live = run(home, "context", "resolve", "--cache", f"workspace:{shop}", *words)
    assert live.returncode == 0 and "shop/cart.py" not in live.stdout
    gone = run(home, "context", "resolve", "--cache", "workspace:elsewhere", *words)
    assert (gone.returncode, gone.stderr) == (
        4,
        "error: Cache does not exist: workspace:elsewhere\n",
    )


def explained(home: Path, cache: Path, query: str = QUESTION) -> str:
    done = run(home, "context", "explain", "--cache", cache, "--query", query, "--budget", "200")
    assert done.returncode == 0, done.stderr
    return done.stdout


def exported(cache: Path, into: Path, vectors: NDArray[np.int8] | None) -> Path:
    """The same cache with other vectors."""
    corpus = open_code(CacheFolder(str(cache))).corpus
    corpus.matrix = None if vectors is None else Matrix.whole(vectors)
    export(corpus, str(into))
    return into


@pytest.mark.requirement("CX-code-explain")
def test_vectors_take_part_and_explain_says_so(home: Path, shop: Path, tmp_path: Path) -> None:
    cache = built(home, shop, tmp_path / "cache")
    assert "\nranked by: words and vectors (weight " in explained(home, cache)
    assert "\nranked by: words alone: the query is" in explained(home, cache, "checkout_total")
    meant = resolved(home, cache, "money off for loyal buyers")["documents"]
    assert "shop/prices.py::discounted" in [document["id"] for document in meant]
    plain = exported(cache, tmp_path / "plain", None)
    assert "\nranked by: words alone: the cache has no vectors" in explained(home, plain)
    assert contents(resolved(home, plain))["shop/cart.py::Cart.checkout_total"]
    assert resolved(home, plain, "money off for loyal buyers")["documents"] == []
    count = len(json.loads((cache / "manifest.json").read_text("utf-8"))["documents"])
    narrow = exported(cache, tmp_path / "narrow", np.zeros((count, 7), np.int8))
    assert "\nranked by: words alone: the vectors are not of this" in explained(home, narrow)


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("code")
    sources = folder / "sources"
    for name, text in SHOP.items():
        path = sources / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line[8:] for line in text.split("\n")), "utf-8")
    home = folder / "home"
    home.mkdir()
    return built(home, sources, folder / "cache")


@settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
@pytest.mark.requirement("CX-code-hostile")
def test_a_damaged_cache_of_code_is_refused(
    data: st.DataObject, intact: Path, tmp_path: Path
) -> None:
    from sightline.context.problems import CacheProblem

    cache = tmp_path / "damaged"
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(intact, cache)
    files = sorted(path for path in cache.rglob("*.json") if path.name != "index.json")
    path = data.draw(st.sampled_from(files))
    raw = path.read_bytes()
    place = data.draw(st.integers(0, len(raw) - 1))
    how = data.draw(st.sampled_from(["flip", "cut", "swap", "link", "drop", "number"]))
    if how == "flip":
        path.write_bytes(raw[:place] + bytes([raw[place] ^ (1 << (place % 7))]) + raw[place + 1 :])
    elif how == "cut":
        path.write_bytes(raw[:place])
    elif how == "swap":
        path.write_bytes(data.draw(st.sampled_from(files)).read_bytes())
    elif how == "link":
        path.unlink()
        path.symlink_to("/etc/hostname")
    elif how == "drop":
        path.unlink()
    else:
        path.write_bytes(raw.replace(b'"start_line":', b'"start_line":-', 1))
    if path.name == "manifest.json" and how in ("link", "drop", "swap", "cut"):
        return  # then it is no cache of code any more, and other tests have it
    cache_read: CodeCache | None = None
    with contextlib.suppress(CacheProblem):
        cache_read = open_code(CacheFolder(str(cache)))
    if cache_read is not None:
        # Only what nothing depends on may differ: the time it was built, or blanks.
        intact_read = open_code(CacheFolder(str(intact)))
        same = cache_read.manifest._replace(created_at=intact_read.manifest.created_at)
        assert same == intact_read.manifest
        found = cache_read.select(QUESTION, 300, lambda: None)
        assert {t.version for t in found.taken} == {
            t.version for t in intact_read.select(QUESTION, 300, lambda: None).taken
        }
