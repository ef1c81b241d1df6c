"""Everything that was recorded of the original or is one of its goldens, byte for byte.

Each runs twice: as this program does by default, and with ``--strict-v0``. Where the two may differ
the recorded value is the strict one, and another test says what the default is.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from sightline.context.scores import ratio, spelled
from tests.context.support import (
    VECTORS,
    files_of,
    in_process,
    make_sources,
    recorded,
    write_documents,
)

STORED = VECTORS / "stored"
COMPAT = STORED / "compat" / "fixtures" / "v0"
MODES = pytest.mark.parametrize("mode", [(), ("--strict-v0",)], ids=["default", "strict"])
BUILDS = {row["set"]: row for row in recorded("cli_build.json")}
RESOLVES = recorded("cli_resolve.json")
EXITS = recorded("cli_exit_codes.json")

Mode = tuple[str, ...]


@MODES
@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.requirement("CX-build-files")
@pytest.mark.requirement("CX-build-utf8")
def test_build(name: str, mode: Mode, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    row = BUILDS[name]
    sources = make_sources(tmp_path / "src" / name, row["files"])
    cache = tmp_path / "c" / name
    done = in_process(capfd, "build", "--sources", sources, "--cache", cache, *mode)
    assert done == (row["exit"], row["stdout"], row["stderr"].replace("<TMP>", str(tmp_path)))
    expected = row.get("cache_files (created_at normalised)", {})
    found = files_of(cache)
    assert {file: found[file].decode() for file in expected} == expected
    if "inspect" in row:
        inspected = in_process(capfd, "inspect", "--cache", cache, *mode)
        assert [inspected.exit, inspected.stdout] == row["inspect"]


@MODES
@pytest.mark.parametrize("name", sorted({row["set"] for row in RESOLVES}))
@pytest.mark.requirement("CX-resolve-bytes")
@pytest.mark.requirement("CX-words")
@pytest.mark.requirement("CX-budget")
def test_resolve(name: str, mode: Mode, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sources = make_sources(tmp_path / "src", BUILDS[name]["files"])
    cache = tmp_path / "cache"
    assert in_process(capfd, "build", "--sources", sources, "--cache", cache).exit == 0
    rows = [row for row in RESOLVES if row["set"] == name]
    assert rows
    for row in rows:
        asked = (f"--query={row['query']}", "--budget", str(row["budget"]))
        done = in_process(capfd, "resolve", "--cache", cache, *asked, *mode)
        assert done == (row["exit"], row["stdout"], "")


@MODES
@pytest.mark.parametrize("row", EXITS, ids=lambda row: row["note"] or " ".join(row["argv"][:2]))
@pytest.mark.requirement("CX-exit-codes")
def test_exit_codes(
    row: dict[str, Any], mode: Mode, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _exit_code_tree(tmp_path, capfd)
    replaced = [
        argument.replace("<TMP>", str(tmp_path)).replace("<STORED>", str(STORED))
        for argument in row["argv"]
    ]
    argv = [*mode, *replaced] if replaced == ["--version"] else [*replaced, *mode]
    done = in_process(capfd, *argv)
    assert done.exit == row["exit"]
    assert done.stderr == row["stderr"].replace("<TMP>", str(tmp_path))
    # The recorded output is cut, and only its first document's content is known.
    assert done.stdout[:240] == row["stdout"][:240]


def _exit_code_tree(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What the recorded commands ran on, as far as their output shows it."""
    files = {".git/x.md": "in dot git", ".hidden.md": "hidden", "a.md": "alpha beta"}
    sources = write_documents(folder / "src" / "basic", files)
    cache = folder / "c" / "basic"
    assert in_process(capfd, "build", "--sources", sources, "--cache", cache).exit == 0
    (folder / "mdir" / "manifest.json").mkdir(parents=True)
    (folder / "afile").write_text("x")
    shutil.copytree(cache, folder / "tam")
    document = next((folder / "tam" / "documents").iterdir())
    document.write_bytes(document.read_bytes().replace(b'"content":"', b'"content":"!'))


@pytest.mark.requirement("CX-score-text")
def test_scores() -> None:
    lines = (VECTORS / "recorded" / "f32_scores_sample.txt").read_text().splitlines()
    assert len(lines) == 600
    for line in lines:
        matches, total, text = line.split()
        assert spelled(ratio(int(matches), int(total))) == text


@pytest.mark.parametrize(
    ("expected", "cache", "query"),
    [
        ("minimal_basic", "minimal", "basic"),
        ("minimal_zero_budget", "minimal", "zero_budget"),
        ("realistic_basic", "realistic", "basic"),
        ("realistic_multi_term", "realistic", "multi_term"),
        ("tie_break_ordering", "tie_break", "tie_break"),
        ("tie_break_zero_score", "tie_break", "no_match"),
    ],
)
@MODES
@pytest.mark.requirement("CX-resolve-order")
@pytest.mark.requirement("CX-selection-schema")
def test_compatibility_fixtures(
    expected: str, cache: str, query: str, mode: Mode, capfd: pytest.CaptureFixture[str]
) -> None:
    golden = (COMPAT / "expected" / f"{expected}.json").read_text(encoding="utf-8")
    asked = json.loads((COMPAT / "queries" / f"{query}.json").read_text())
    options = (f"--query={asked['query']}", f"--budget={asked['budget']}")
    done = in_process(capfd, "resolve", "--cache", COMPAT / "caches" / cache, *options, *mode)
    assert done == (0, golden.rstrip("\n") + "\n", "")
    schema = json.loads((STORED / "compat/schemas/selection_result.schema.json").read_text())
    jsonschema_rs.validator_for(schema).validate(json.loads(done.stdout))


@pytest.mark.parametrize("cache", ["minimal", "realistic", "tie_break"])
@pytest.mark.requirement("CX-build-deterministic")
def test_compatibility_caches_are_built(
    cache: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sources = COMPAT / "documents" / cache
    assert in_process(capfd, "build", "--sources", sources, "--cache", tmp_path / "c").exit == 0
    assert files_of(tmp_path / "c") == files_of(COMPAT / "caches" / cache)


@pytest.mark.parametrize("cache", ["minimal", "realistic"])
@MODES
@pytest.mark.requirement("CX-inspect-command")
def test_compatibility_inspection(
    cache: str, mode: Mode, capfd: pytest.CaptureFixture[str]
) -> None:
    golden = (COMPAT / "expected" / f"inspect_{cache}.json").read_text().rstrip("\n") + "\n"
    done = in_process(capfd, "inspect", "--cache", COMPAT / "caches" / cache, *mode)
    assert done == (0, golden, "")


@MODES
def test_server_goldens_of_the_core(
    mode: Mode, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    golden = STORED / "mcp_golden"
    sources = golden / "fixtures" / "docs"
    done = in_process(capfd, "build", "--sources", sources, "--cache", tmp_path / "c")
    assert done.exit == 0
    manifest = files_of(tmp_path / "c")["manifest.json"].decode()
    assert manifest == (golden / "expected/build_manifest.json").read_text().rstrip("\n")
    write_documents(tmp_path / "apples", {"z.md": "apple 2", "a.md": "apple 1"})
    write_documents(tmp_path / "two", {"a.md": "deployment", "b.md": "other"})
    for documents, query, budget, name in (
        (sources, "deployment", 4000, "resolve_basic"),
        (tmp_path / "apples", "apple", 100, "resolve_ordering"),
        (tmp_path / "two", "deployment", 0, "resolve_zero_budget"),
    ):
        cache = tmp_path / name
        assert in_process(capfd, "build", "--sources", documents, "--cache", cache).exit == 0
        options = ("--query", query, "--budget", str(budget), *mode)
        answer = in_process(capfd, "resolve", "--cache", cache, *options)
        assert answer.stdout == (golden / f"expected/{name}.json").read_text().rstrip("\n") + "\n"


@pytest.mark.requirement("CX-tokens")
@pytest.mark.requirement("CX-budget")
def test_core_goldens(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    golden = json.loads((STORED / "core_golden" / "selection.json").read_text())

    def resolve(files: dict[str, str], name: str, query: str, budget: int) -> Any:
        sources = write_documents(tmp_path / f"{name}-src", files)
        cache = tmp_path / name
        in_process(capfd, "build", "--sources", sources, "--cache", cache)
        options = ("--query", query, "--budget", str(budget))
        return json.loads(in_process(capfd, "resolve", "--cache", cache, *options).stdout)

    for case in golden["cases"]:
        answer = resolve(golden["documents"], "cases", case["query"], case["budget"])
        documents = answer["documents"]
        assert [document["id"] for document in documents] == case["expected_ids"]
        assert [str(document["score"]) for document in documents] == case["expected_scores"]
        assert [document["tokens"] for document in documents] == case["expected_tokens"]
        assert answer["selection"]["tokens_used"] == case["tokens_used"]
        versions = {document["id"]: document["version"] for document in documents}
        assert versions["docs/overview.md"] == golden["overview_version"]
    skip = golden["budget_skip"]
    answer = resolve(skip["documents"], "skip", skip["query"], skip["budget"])
    assert [document["id"] for document in answer["documents"]] == skip["expected_ids"]
    assert answer["selection"]["tokens_used"] == skip["tokens_used"]
    assert answer["selection"]["documents_excluded_by_budget"] == skip["excluded"]
