"""What comes first, and why: names, questions, phrases, filters, roles, pages."""

from pathlib import Path
from typing import Any

import msgspec

from tests.conftest import Workspace
from tests.support.engine import Engine
from tests.support.index import index_engine

FILES = {
    "src/net/client.py": '''
        """Talking to servers."""


        class HttpClient:
            """Sends requests and retries them when the connection breaks."""

            def send_request(self, url: str) -> bytes:
                for attempt in range(3):
                    if self.try_once(url):
                        return b"ok"
                raise TimeoutError("retry budget exhausted")

            def try_once(self, url: str) -> bool:
                return bool(url)
        ''',
    "src/net/parse_url.py": '''
        def parse_url(text: str) -> tuple[str, str]:
            """Splits an address into host and path."""
            host, _, path = text.partition("/")
            return host, path


        def parseQueryString(text):
            return dict(pair.split("=") for pair in text.split("&"))
        ''',
    "src/store/table.go": """
        package store

        // Table keeps rows sorted by key.
        type Table struct {
            rows []Row
        }

        // Insert adds a row.
        func (t *Table) Insert(row Row) {
            t.rows = append(t.rows, row)
        }
        """,
    "src/user.py": """
        from net.parse_url import parse_url

        def show(address):
            host, path = parse_url(address)
            print(parse_url, host, path, parse_url)
        """,
    "tests/test_parse_url.py": """
        from net.parse_url import parse_url

        def test_parse_url():
            assert parse_url("a/b") == ("a", "b")
        """,
    "docs/urls.md": """
        # Addresses

        Call parse_url to split an address into host and path. parse_url is fast.
        """,
    "config/app.yaml": """
        retry:
          budget: 3
        """,
}


async def ask(running: Engine, query: str, **arguments: Any) -> list[dict[str, Any]]:
    answer = await running.once("search", query=query, **arguments)
    items: list[dict[str, Any]] = answer["items"]
    return items


async def test_what_a_person_means(workspace: Workspace, tmp_path: Path) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        # A name: its declaration first, before uses, tests and docs.
        for query in ("parse_url", "parseUrl", "PARSE_URL", "parse_url()", "`parse_url`"):
            first = (await ask(running, query))[0]
            assert (first["path"], first["name"]) == ("src/net/parse_url.py", "parse_url"), query
        for query in ("HttpClient.send_request", "HttpClient#send_request", "send_request"):
            first = (await ask(running, query))[0]
            assert (first["name"], first["kind"]) == ("send_request", "method"), query
        assert (await ask(running, "parse_query_string"))[0]["name"] == "parseQueryString"
        assert (await ask(running, "Table.Insert"))[0]["path"] == "src/store/table.go"
        # A question: words may be missing, none is insisted on.
        first = (await ask(running, "where do we retry when the connection of a giraffe breaks?"))[
            0
        ]
        assert first["path"] == "src/net/client.py"
        assert (await ask(running, "how are rows kept in order"))[0]["path"] == "src/store/table.go"
        # A quoted phrase must be there as written, if it is anywhere.
        hits = await ask(running, '"retry budget exhausted"')
        assert [hit["name"] for hit in hits] == ["send_request"]
        answer = await running.once("search", query='"budget retry sizes" rows')
        assert "does not occur as written" in answer["summary"] and answer["items"]
        # A file that is mentioned.
        assert (await ask(running, "error in src/store/table.go line 3"))[0]["language"] == "go"


ISSUE = """Rows are not kept sorted by key after Insert

I keep a table of rows; the order is lost. The message is "assert parse_url", which tests say too.

```python
for attempt in range(3):
    url = host + path  # talking to servers, requests, retries when the connection breaks
    text, bytes = raise_(url, "retry budget", timeout, client, attempt, once, exhausted)
```
"""
CRASH = """Crash while printing

It stops with this and I do not know why. It is the same on every machine that I have here.

```
Traceback (most recent call last):
  File "/home/me/project/main.py", line 3, in <module>
    run()
  File "/usr/lib/python3/site-packages/src/user.py", line 5, in show
    print(host)
ValueError: no
```
"""


async def test_an_issue_is_about_its_title_and_not_its_code(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        assert (await ask(running, ISSUE))[0]["path"] == "src/store/table.go"
        assert (await ask(running, CRASH))[0]["path"] == "src/user.py"


async def test_tests_and_docs_come_last_unless_asked_for(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        paths = [hit["path"] for hit in await ask(running, "split an address into host and path")]
        assert paths[0].startswith("src/") and paths[1].startswith("src/")
        assert "docs/urls.md" in paths[2:], "though it has every word, and more often"
        for query, path in [
            ("test parse_url of an address", "tests/test_parse_url.py"),
            ("documentation of addresses", "docs/urls.md"),
        ]:
            assert (await ask(running, query))[0]["path"] == path
        hits = await ask(running, "parse_url", path=["tests/"], explain=True)
        assert {hit["path"] for hit in hits} == {"tests/test_parse_url.py"}


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"path": ["src/**"]}, {"src/net/parse_url.py", "src/user.py"}),
    ({"path": ["src/**", "!src/user.py"]}, {"src/net/parse_url.py"}),
    ({"path": ["*.md"]}, {"docs/urls.md"}),
    ({"path": ["docs"]}, {"docs/urls.md"}),
    ({"path": ["./src/net/"]}, {"src/net/parse_url.py"}),
    ({"language": "markdown"}, {"docs/urls.md"}),
    ({"language": "md"}, {"docs/urls.md"}),
    ({"kind": "section"}, {"docs/urls.md"}),
    ({"symbol": "parse_url"}, {"src/net/parse_url.py"}),
    ({"symbol": "test_parse_url", "language": "py"}, {"tests/test_parse_url.py"}),
    ({"symbol": "Nobody"}, set()),
]


async def test_filters_are_conditions(workspace: Workspace, tmp_path: Path) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        for filters, paths in FILTERS:
            for mode in ("auto", "literal", "regex"):
                hits = await ask(running, "parse_url", mode=mode, **filters)
                found = {hit["path"] for hit in hits if "parse_url" in hit["snippet"]}
                assert found == paths, (filters, mode)


async def test_pages_partition_the_answer(workspace: Workspace, tmp_path: Path) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        whole = (await running.once("search", query="parse url path", pageSize=200))["items"]
        assert len(whole) > 4
        for size in (1, 2, 3):
            pages: list[Any] = []
            cursor = None
            while True:
                page = await running.once(
                    "search", query="parse url path", pageSize=size, cursor=cursor
                )
                pages += page["items"]
                cursor = page["nextCursor"]
                if cursor is None:
                    break
            assert pages == whole


async def test_a_page_keeps_to_its_tokens(workspace: Workspace, tmp_path: Path) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        for tokens in (200, 300, 500, 1_000, 4_000):
            answer = await running.once("search", query="parse url path", maxTokens=tokens)
            assert answer["items"]
            assert len(msgspec.json.encode(answer)) <= tokens * 4


async def test_a_hit_is_ready_for_the_language_tools(workspace: Workspace, tmp_path: Path) -> None:
    root = workspace(FILES)
    async with index_engine(root, tmp_path / "cache") as running:
        for hit in await ask(running, "parse_url insert send request"):
            if not hit["name"]:
                continue
            lines = (root / hit["path"]).read_text().split("\n")
            place = hit["position"]
            assert lines[place["line"]][place["character"] :].startswith(hit["name"])
            assert hit["startLine"] <= place["line"] + 1 <= hit["endLine"]
            assert hit["uri"] == (root / hit["path"]).as_uri()
            numbered = [line.partition(": ") for line in hit["snippet"].split("\n")]
            for number, mark, text in numbered:
                assert not mark or lines[int(number) - 1].rstrip() == text.rstrip()


async def test_reasons_on_request(workspace: Workspace, tmp_path: Path) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        hits = await ask(running, "parse_url", explain=True)
        assert hits[0]["reasons"][0] == "declares parse_url"
        by_path = {hit["path"]: hit["reasons"] for hit in hits}
        assert "counts less: docs" in by_path["docs/urls.md"]
        assert all("reasons" not in hit for hit in await ask(running, "parse_url"))
