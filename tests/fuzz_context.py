"""Hostile context caches: ``python -m tests.fuzz_context --cases 100000``.

Each case is a cache with something wrong with it: a file mutated, truncated, swapped with another,
linked out, replaced by a folder, a pipe or a device, made huge, nested deeply, or a manifest whose
members are anything. The answer, through the same path that servers use, must be the right one by
rules that are written down elsewhere, or one of the six frozen errors. It never holds a path or a
word of a file outside the cache, nothing is reported as a bug, and no case takes long.

Some cases are harmless on purpose (other blanks, other escapes, members in another order, a list
for an object); these must be answered. The seed is printed; the same seed gives the same cases.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from sightline.calls import families
from sightline.calls.calls import Caller, Calls, Engines
from sightline.context.build import write_cache
from sightline.context.documents import Document, version_of
from sightline.context.engine import ContextEngine
from sightline.contract.settings import Settings
from sightline.protocol.jsonrpc import Error
from sightline.protocol.revisions import NEWEST
from sightline.protocol.surface import ClientOptions
from sightline.tools.catalogue import CATALOGUE
from sightline.tools.tool import Desk
from tests.context.reference import as_single, reference
from tools.evidence import write_page

__all__ = ["Findings", "fuzz"]

_SECRET = "the-secret-outside"
#: Processor time of one call; the wall clock only tells how busy the machine is, up to a hang.
_SLOW_S = 3.0
_HANG_S = 120.0
_HUGE = 1 << 40
_TEXTS = [
    {"a.md": "alpha beta beta", "b.md": "beta \u03a3\u0391\u03a3", "c.md": ""},
    {"one.md": "x"},
    {},
    {f"d/{n}.md": f"word{n} " * (n + 1) for n in range(6)},
    {"e.md": 'quotes " and \\ and \n and \x00 and \x1c', "f.md": "\u3000é😀" * 30},
]
_BITS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"\\",
    b"\xff",
    b"\x00",
    b"null",
    b"1e999",
    b"-0",
]
_BITS += [b"\\ud800", b"..", b"/", b"sha256:", b"\n", b"1.0", b"[[[[[[", b'"id"', b"documents/"]


class Findings(Exception):
    """Cases that were answered wrongly, each with enough to see why."""


class Fuzz:
    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir()
        self.cache = self.root
        self.templates = [self._template(number, files) for number, files in enumerate(_TEXTS)]
        (folder / "secret.json").write_bytes(_encoded("a.md", _SECRET))
        self.engine = ContextEngine(str(self.root))
        self.bugs: list[BaseException] = []
        self.inserted = b"\0 nothing"
        self.outcomes: Counter[str] = Counter()
        self.slowest = 0.0
        self.calls = Calls(
            [tool for tool in CATALOGUE if tool.info.family == "context"],
            Engines(_no_view, self._desk, lambda uri: "", lambda path: None, lambda uri: ""),
            Settings(),
            time.monotonic,
            self.bugs.append,
        )

    def close(self) -> None:
        self.engine.close()

    async def case(self, number: int) -> None:
        harmless = self.random.random() < 0.15
        # Names are used again, so that what is kept of the cache before must not be believed.
        self.cache = cache = self.root / f"c{number % 50}"
        shutil.rmtree(cache, ignore_errors=True)
        template = self.random.choice(self.templates)
        shutil.copytree(template, cache)
        what = self._spell_otherwise(cache) if harmless else self._damage(cache)
        query = self.random.choice(["beta", "", "x x", "word3 word1", "\u03c3\u03b1\u03c2"])
        budget = self.random.choice([0, 3, 50, 10**6])
        arguments = {"cache": cache.name, "query": query, "budget": budget}
        answer = await self._call("context.resolve", arguments, what)
        self._judge(cache, answer, arguments, what, must_answer=harmless)
        report = await self._call("context.inspect_cache", {"cache": cache.name}, what)
        # Inspecting reads members by name, so a manifest that is a list is none to it.
        listed = harmless and isinstance(self._read(cache / "manifest.json"), list)
        if harmless and not listed and json.loads(report).get("valid") is not True:
            raise Findings(f"{what}: a good cache is called invalid")

    # Asking and judging

    async def _call(self, tool: str, arguments: dict[str, Any], what: str) -> str:
        started = time.process_time()
        async with asyncio.timeout(_HANG_S):
            finished = await self.calls.run(
                tool, arguments, Caller(ClientOptions(), NEWEST), arrived=time.monotonic()
            )
        took = time.process_time() - started
        self.slowest = max(self.slowest, took)
        if self.bugs:
            raise Findings(f"{what}: {self.bugs[0]!r}")
        if isinstance(finished.outcome, Error):
            raise Findings(f"{what}: a JSON-RPC error")
        result = bytes(finished.outcome)
        if str(self.folder).encode() in result or _SECRET.encode() in result:
            raise Findings(f"{what}: told what it must not")
        if took > _SLOW_S:
            raise Findings(f"{what}: took {took:.1f} s of processor time")
        decoded = msgspec.json.decode(result)
        text: str = decoded["content"][0]["text"]
        if decoded["isError"]:
            code = json.loads(text)["error"]["code"]
            message = families.CONTEXT_MESSAGES[code]
            if text != f'{{"error":{{"code":"{code}","message":"{message}"}}}}\n':
                raise Findings(f"{what}: not the frozen error")
        outcome = json.loads(text)["error"]["code"] if decoded["isError"] else "answered"
        self.outcomes[f"{tool.removeprefix('context.')} {outcome}"] += 1
        return text

    def _judge(
        self, cache: Path, answer: str, asked: dict[str, Any], what: str, *, must_answer: bool
    ) -> None:
        given = json.loads(answer)
        if "error" in given:
            if must_answer:
                raise Findings(f"{what}: a good cache was refused")
            return
        documents = [self._document(cache, entry) for entry in self._entries(cache)]
        expected = reference(documents, asked["query"], asked["budget"])
        if as_single(given) != expected:
            raise Findings(f"{what}: the answer is not the right one")

    def _entries(self, cache: Path) -> list[Any]:
        manifest = self._read(cache / "manifest.json")
        listed: list[Any] = manifest[4] if isinstance(manifest, list) else manifest["documents"]
        return listed

    def _document(self, cache: Path, entry: Any) -> tuple[str, str]:
        """A document as its file says, read without any of the program's code."""
        if isinstance(entry, list):
            entry = dict(zip(("id", "version", "file"), entry, strict=True))
        value = self._read(cache / entry["file"])
        content: str = value[3] if isinstance(value, list) else value["content"]
        return entry["id"], content

    def _read(self, path: Path) -> Any:
        # What is nested too deeply for the standard library was inserted, and means nothing. Nor
        # do members without a meaning, in which bytes that are not UTF-8 are passed over.
        data = path.read_bytes().replace(self.inserted, b"")
        return json.loads(data.decode("utf-8", "replace"))

    # Making cases

    def _damage(self, cache: Path) -> str:
        files = sorted(path for path in cache.rglob("*") if path.is_file())
        ways: list[Callable[[Path], None]] = [
            self._mutate,
            self._mutate,
            self._truncate,
            self._swap,
            self._link,
            self._replace,
            self._huge,
            self._deep,
            self._anything,
            self._anything,
            self._entry,
        ]
        way = self.random.choice(ways)
        # Mostly where it matters: nobody reads index.json.
        file = self.random.choice(files)
        if file.name == "index.json" and self.random.random() < 0.9:
            file = cache / "manifest.json"
        way(file)
        return f"{way.__name__} of {file.name}"

    def _mutate(self, file: Path) -> None:
        data = bytearray(file.read_bytes())
        for _ in range(self.random.randint(1, 4)):
            at = self.random.randint(0, len(data))
            match self.random.randrange(4):
                case 0:
                    data[at:at] = self.random.choice(_BITS)
                case 1:
                    del data[at : at + self.random.randint(1, 9)]
                case 2:
                    data[at : at + 1] = bytes([self.random.randrange(256)])
                case _:
                    data[at:at] = data[self.random.randint(0, len(data)) :][:40]
        file.write_bytes(data)

    def _truncate(self, file: Path) -> None:
        os.truncate(file, self.random.randint(0, file.stat().st_size))

    def _swap(self, file: Path) -> None:
        other = self.random.choice(sorted(self.cache.rglob("*.json")))
        one, two = file.read_bytes(), other.read_bytes()
        file.write_bytes(two)
        other.write_bytes(one)

    def _link(self, file: Path) -> None:
        targets = ["/dev/zero", "/proc/self/mem", "/proc/self/environ", file.name, "nowhere", "/"]
        targets += [str(self.folder / "secret.json"), "../../secret.json", "../secret.json"]
        file.unlink()
        file.symlink_to(self.random.choice(targets))

    def _replace(self, file: Path) -> None:
        file.unlink()
        match self.random.randrange(3):
            case 0:
                os.mkfifo(file)
            case 1:
                file.mkdir()
            case _:
                pass  # gone

    def _huge(self, file: Path) -> None:
        os.truncate(file, self.random.choice([_HUGE, 64 * 2**20 + 1]))

    def _deep(self, file: Path) -> None:
        depth = self.random.choice([127, 128, 129, 1000, 50_000])
        opening, closing = self.random.choice([(b"[", b"]"), (b'{"a":', b"}")])
        deep = opening * depth + (b"1" if opening != b"[" else b"") + closing * depth
        data = file.read_bytes()
        at = data.find(b":") + 1 if self.random.random() < 0.5 else data.rfind(b"}")
        inserted = deep if data[at - 1 : at] == b":" else b',"deep":' + deep
        file.write_bytes(data[:at] + inserted + data[at:])
        self.inserted = inserted

    def _anything(self, file: Path) -> None:
        """A member somewhere becomes any value."""
        value = json.loads(file.read_bytes())
        spots: list[tuple[Any, Any]] = []
        todo = [value]
        while todo:
            found = todo.pop()
            items = found.items() if isinstance(found, dict) else enumerate(found)
            for key, inner in items:
                spots.append((found, key))
                if isinstance(inner, dict | list):
                    todo.append(inner)
        if spots:
            place, key = self.random.choice(spots)
            if self.random.random() < 0.2 and isinstance(place, dict):
                del place[key]
            else:
                place[key] = self._value()
        spelled = json.dumps(value, ensure_ascii=self.random.random() < 0.5)
        file.write_bytes(spelled.encode("utf-8", "surrogatepass"))

    def _entry(self, file: Path) -> None:
        """An entry of the manifest names another file."""
        manifest = self.cache / "manifest.json"
        value = json.loads(manifest.read_bytes())
        secret = str(self.folder / "secret.json")
        names = ["", ".", "..", "/", secret, "../../secret.json", "documents/../../../secret.json"]
        names += ["manifest.json", "index.json", "a\0b", "x" * 5000, "documents", "/proc/self/fd/0"]
        for entry in value["documents"]:
            if self.random.random() < 0.6:
                entry["file"] = self.random.choice(names)
                if self.random.random() < 0.5:
                    entry.update(id="a.md", version=version_of(_SECRET.encode()))
        if value["documents"] and self.random.random() < 0.2:
            value["documents"] *= 20
        manifest.write_text(json.dumps(value))

    def _value(self) -> Any:  # any JSON value
        simple: list[Any] = [
            None,
            True,
            0,
            -1,
            1.5,
            2**63,
            2**70,
            1e300,
            "",
            "x",
            "\ud83d\ude00",
            "a.md",
        ]
        simple += ["sha256:" + "0" * 64, "../x", [], {}, [1], {"a": {}}, "1970-01-01T00:00:00Z"]
        return self.random.choice(simple)

    def _spell_otherwise(self, cache: Path) -> str:
        """The same cache, written in another way."""
        for file in cache.rglob("*.json"):
            value = json.loads(file.read_bytes())
            if file.name == "index.json":
                continue
            if isinstance(value, dict) and self.random.random() < 0.3:
                members = list(value.items())
                self.random.shuffle(members)
                value = dict(members) | {"more": [{"a": 1}, "\u00e9", None]}
            elif self.random.random() < 0.3:
                value = list(value.values())
            spelled = json.dumps(
                value,
                indent=self.random.choice([None, 0, 3]),
                ensure_ascii=self.random.random() < 0.5,
            )
            file.write_text(f"\n {spelled}\r\n\t")
        return "another spelling"

    def _template(self, number: int, files: dict[str, str]) -> Path:
        place = self.folder / f"template{number}"
        documents = [Document(k, version_of(v.encode()), k, v) for k, v in files.items()]
        write_cache(documents, str(place))
        return place

    def _desk(self, view: Any, progress: Any) -> Desk:
        return Desk(view, None, progress, context=self.engine)  # type: ignore[arg-type]


def _encoded(id: str, content: str) -> bytes:
    return Document(id, version_of(content.encode()), id, content).encoded()


async def _no_view() -> Any:
    raise AssertionError("context tools look at no workspace")


async def _run(fuzz: Fuzz, cases: int, report: Callable[[int], None]) -> None:
    for number in range(cases):
        try:
            await fuzz.case(number)
        except TimeoutError:
            raise Findings(f"case {number}: a hang") from None
        except Findings as finding:
            raise Findings(f"case {number}: {finding}") from None
        report(number)


def fuzz(
    cases: int, seed: int, report: Callable[[int], None] = lambda number: None
) -> Counter[str]:
    """Runs the cases and returns how often each outcome came; ``Findings`` if one is wrong."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="hostile-caches-", dir=memory) as folder:
        running = Fuzz(Path(folder), seed)
        try:
            asyncio.run(_run(running, cases, report))
        finally:
            running.close()
        return running.outcomes + Counter({"slowest call, CPU ms": int(running.slowest * 1000)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--page", action="store_true", help="write docs/evidence/hostile-caches.md")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)

    def report(number: int) -> None:
        if (number + 1) % 10_000 == 0:
            print(f"{number + 1:,} cases", flush=True)

    try:
        outcomes = fuzz(arguments.cases, arguments.seed, report)
    except Findings as finding:
        print(f"wrong: {finding}", file=sys.stderr)
        return 1
    print(", ".join(f"{name} {count:,}" for name, count in sorted(outcomes.items())))
    if arguments.page:
        command = f"python -m tests.fuzz_context --cases {arguments.cases} --seed {arguments.seed}"
        write_page("hostile-caches.md", f"{command} --page", _page(arguments.cases, outcomes))
    return 0


def _page(cases: int, outcomes: Counter[str]) -> str:
    rows = "\n".join(f"| {name} | {count:,} |" for name, count in sorted(outcomes.items()))
    return f"""# Hostile context caches

{cases:,} caches, each with something wrong with it (a file mutated, truncated, swapped, linked out,
replaced by a folder, a pipe or a device, made huge, nested deeply; a manifest whose members are
anything) or only spelled in another way, resolved and inspected through the path that servers use.

Every answer was the right one by a reference that shares nothing with the program but the table of
white space and lower case, or one of the frozen errors. None held a path or a word from outside the
cache, nothing was reported as a bug, and nothing hung.

| outcome | |
|---|---|
{rows}

Weakness: the caches are small, and the mutations are those somebody thought of.
"""


if __name__ == "__main__":
    sys.exit(main())
