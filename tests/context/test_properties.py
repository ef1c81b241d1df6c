"""Building and resolving arbitrary documents, against the rules written down plainly."""

import hashlib
import json
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.context.build import build, write_cache
from sightline.context.documents import Document, version_of
from sightline.context.files import CacheFolder
from sightline.context.load import load
from sightline.context.manifest import read_manifest
from sightline.context.select import select
from sightline.context.words import WHITE_SPACE, lower
from tests.context.reference import as_single, reference
from tests.context.support import PATIENT, files_of, in_process, write_documents
from tests.support.program import command, environment

WORDS = ["alpha", "Alpha", "beta,", "ΣΑΣ", "İ", "ß", "the", "x", "😀", "\x1c", "a\x1fb"]
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from([*WORDS, *WHITE_SPACE, "  ", "\r\n"]), max_size=40).map(" ".join),
)
NAMES = st.from_regex(r"[a-cA-C.é\\]{1,3}(/[a-b]{1,2})?\.md", fullmatch=True).filter(
    lambda name: all(part not in (".", "..") for part in name.split("/"))
)
FILES = st.dictionaries(NAMES, TEXT, max_size=6)
BUDGETS = st.one_of(st.integers(0, 60), st.integers(0, 2**64 - 1))


def distinct(files: dict[str, str]) -> dict[str, str]:
    """As many of the files as one cache can hold: no id and no content twice."""
    by_id = {_id(name): name for name in files}
    by_text = {files[name]: name for name in by_id.values()}
    return {name: text for text, name in by_text.items()}


@given(st.dictionaries(st.text(min_size=1, max_size=5), TEXT, max_size=7), TEXT, BUDGETS)
@PATIENT
@pytest.mark.requirement("CX-resolve-order")
@pytest.mark.requirement("CX-budget")
@pytest.mark.requirement("CX-score-value")
def test_selection_follows_the_rules(files: dict[str, str], query: str, budget: int) -> None:
    files = {id_: text for text, id_ in {text: id_ for id_, text in files.items()}.items()}
    documents = [Document(id_, version_of(text.encode()), id_, text) for id_, text in files.items()]
    with tempfile.TemporaryDirectory() as folder:
        write_cache(documents, f"{folder}/cache")
        selection = select(load(CacheFolder(f"{folder}/cache")), query, budget)
    text = "".join(selection.compact())
    assert as_single(json.loads(text)) == reference(files.items(), query, budget)
    assert json.loads("".join(selection.pretty())) == json.loads(text)
    keys = list(json.loads(text)["selection"])
    assert keys[0] == "query" and keys[-1] == "documents_excluded_by_budget"


@given(FILES)
@PATIENT
@pytest.mark.requirement("CX-cache-version")
@pytest.mark.requirement("CX-build-files")
def test_a_build_is_a_function_of_the_documents(files: dict[str, str]) -> None:
    """Order of discovery, time and place change nothing but the time in the manifest."""
    files = distinct(files)
    ids = sorted(map(_id, files))
    with tempfile.TemporaryDirectory() as folder:
        sources = write_documents(Path(folder) / "s", files)
        build(str(sources), f"{folder}/one", now_ns=lambda: 0)
        documents = [
            Document(_id(name), version_of(text.encode()), name, text)
            for name, text in files.items()
        ]
        write_cache(documents[::-1], f"{folder}/two", now_ns=lambda: 10**18)
        one, two = Path(folder, "one"), Path(folder, "two")
        assert files_of(one) == files_of(two)
        manifest = read_manifest((one / "manifest.json").read_bytes())
        assert [entry.id for entry in manifest.entries] == ids
        digest = hashlib.sha256(b'{"version":"1","hash_algorithm":"sha256"}')
        for entry in manifest.entries:
            digest.update(f"{entry.id}:{entry.version}".encode())
        assert manifest.cache_version == f"sha256:{digest.hexdigest()}"
        index = json.loads((one / "index.json").read_text(encoding="utf-8"))
        assert list(index.items()) == [(e.id, e.file) for e in manifest.entries]


def _id(name: str) -> str:
    path = name.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return lower(path)


@given(FILES, FILES, st.data())
@settings(PATIENT, max_examples=40)
@pytest.mark.requirement("CX-build-incremental")
def test_building_again_equals_building_afresh(
    first: dict[str, str], second: dict[str, str], data: st.DataObject
) -> None:
    """A cache that was replaced after edits is the cache of the new state, byte for byte."""
    kept = data.draw(st.sets(st.sampled_from(sorted(first)))) if first else set()
    after = distinct({name: first[name] for name in kept} | second)
    with tempfile.TemporaryDirectory() as folder:
        build(str(write_documents(Path(folder) / "a", distinct(first))), f"{folder}/cache")
        build(str(write_documents(Path(folder) / "b", after)), f"{folder}/fresh")
        build(f"{folder}/b", f"{folder}/cache", force=True)
        assert files_of(Path(folder, "cache")) == files_of(Path(folder, "fresh"))
        assert sorted(path.name for path in Path(folder).iterdir()) == ["a", "b", "cache", "fresh"]


@pytest.mark.requirement("CX-deterministic-processes")
def test_three_processes_write_the_same_bytes(home: Path, tmp_path: Path) -> None:
    files = {f"d{n % 7}/{n}.md": f"alpha {'beta ' * (n % 5)}\u03a3 {n}" for n in range(60)}
    sources = write_documents(tmp_path / "sources", files)
    caches, answers = [], []
    for seed in ("0", "1", "random"):
        variables = environment(home) | {"PYTHONHASHSEED": seed}
        cache = tmp_path / f"cache{seed}"
        subprocess.run(
            command("context", "build", "--sources", sources, "--cache", cache),
            env=variables,
            check=True,
            capture_output=True,
        )
        caches.append(files_of(cache))
        asked = ("--query", "beta alpha beta", "--budget", "300")
        done = subprocess.run(
            command("context", "resolve", "--cache", cache, *asked),
            env=variables,
            check=True,
            capture_output=True,
        )
        answers.append(done.stdout)
    assert caches[0] == caches[1] == caches[2]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.requirement("CX-resolve-format")
def test_pretty_is_the_same_answer_over_lines(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sources = write_documents(tmp_path / "s", {"a.md": "x y", "b.md": ""})
    cache = tmp_path / "c"
    in_process(capfd, "build", "--sources", sources, "--cache", cache)
    asked = ("--query", "x", "--budget", "9")
    done = in_process(capfd, "resolve", "--cache", cache, *asked, "--format", "pretty")
    compact = in_process(capfd, "resolve", "--cache", cache, *asked)
    expected = json.dumps(json.loads(compact.stdout), indent=2, ensure_ascii=False) + "\n"
    assert done == (0, expected, "")
    none = in_process(
        capfd, "resolve", "--cache", cache, "--query=", "--budget=0", "--format=pretty"
    )
    assert '"query_terms": [],' in none.stdout
