"""What is learnt from: allowed licences only, nothing that quality is measured on."""

import gzip
import json
from pathlib import Path

import pytest

from tests.training.made import GPL, MIT, bare, history, lose, module
from training.manifest import Depth, Line, write_manifest
from training.mine import main


def mined(repositories: Path, into: Path, *more: str) -> dict[str, str]:
    """The manifest: repository to what was done with it."""
    arguments = ["--repositories", str(repositories), "--into", str(into), "--processes", "1"]
    assert main([*arguments, *more]) == 0
    lines = [path.read_text("utf-8").strip() for path in into.glob("*.manifest")]
    return {line.split("\t")[0]: line for line in lines}


def pairs_of(into: Path, name: str) -> list[list[str]]:
    with gzip.open(into / f"{name.replace('/', '+')}.pairs.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_every_kind_of_pair_is_mined_and_the_manifest_says_of_what(tmp_path: Path) -> None:
    bare(tmp_path / "from", "acme/alpha", history("alpha"))
    line = mined(tmp_path / "from", tmp_path / "pairs")["acme/alpha"]
    name, commit, licences, depth, counts = line.split("\t")
    assert (name, len(commit), licences) == ("acme/alpha", 40, "MIT")
    assert depth == "files=5000 commits=1500 merges=400"
    found = pairs_of(tmp_path / "pairs", "acme/alpha")
    kinds = {kind for kind, *_ in found}
    assert kinds == set("dnic")
    assert all(f"{kind}=" in counts for kind in "dnicph")
    for kind, query, _, _, body, _ in found:
        assert query not in body, kind


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("django/django", "quality is measured on it"),
        ("somebody/django", "quality is measured on it"),
        ("preactjs/preact", "chosen on it"),
    ],
)
def test_what_is_measured_on_is_never_mined(tmp_path: Path, name: str, reason: str) -> None:
    bare(tmp_path / "from", name, history("x"))
    assert reason in mined(tmp_path / "from", tmp_path / "pairs")[name]
    assert not list((tmp_path / "pairs").glob("*.pairs.gz"))


def test_a_licence_that_is_not_allowed_keeps_its_files_out(tmp_path: Path) -> None:
    files = {
        "LICENSE": MIT,
        "src/free.py": module("free", 4),
        "other/COPYING": GPL,
        "other/bound.py": module("bound", 4),
        "src/marked.py": "# SPDX-License-Identifier: GPL-3.0-only\n" + module("marked", 4),
        "vendor/copied.py": module("copied", 4),
    }
    bare(tmp_path / "from", "acme/mixed", [("Begin", files)])
    bare(tmp_path / "from", "acme/bound", [("Begin", {**files, "LICENSE": GPL})])
    bare(tmp_path / "from", "acme/bare", [("Begin", {"src/free.py": files["src/free.py"]})])
    manifest = mined(tmp_path / "from", tmp_path / "pairs")
    assert {path for _, _, path, *_ in pairs_of(tmp_path / "pairs", "acme/mixed")} == {
        "src/free.py"
    }
    assert "not used" in manifest["acme/bound"] and "not used" in manifest["acme/bare"]
    assert [p.name for p in (tmp_path / "pairs").glob("*.gz")] == ["acme+mixed.pairs.gz"]


def test_a_manifest_mines_the_same_pairs_again_after_the_repository_has_moved_on(
    tmp_path: Path,
) -> None:
    commits = history("alpha")
    bare(tmp_path / "then", "acme/alpha", commits)
    bare(tmp_path / "then", "acme/beta", history("beta"))
    lines = mined(tmp_path / "then", tmp_path / "first", "--files", "3", "--commits", "7")
    manifest = tmp_path / "manifest.tsv"
    write_manifest([Line(*lines["acme/alpha"].split("\t"))], manifest)
    later = [*commits, ("Return more than ever", {"src/later.py": module("later", 9)})]
    bare(tmp_path / "now", "acme/alpha", later)
    bare(tmp_path / "now", "acme/gamma", history("gamma"))

    again = mined(tmp_path / "now", tmp_path / "again", "--manifest", str(manifest))

    assert again == {"acme/alpha": lines["acme/alpha"]}
    first, second = (pairs_of(tmp_path / into, "acme/alpha") for into in ("first", "again"))
    assert first == second
    assert mined(tmp_path / "now", tmp_path / "newest") != again


def test_history_ends_at_a_file_that_the_snapshot_lacks_and_in_a_whole_clone_there_too(
    tmp_path: Path,
) -> None:
    commits = history("alpha")
    lost, small = module("large", 30), module("large", 9)
    commits[4:4] = [
        ("Begin the large one", {"src/part9.py": module("large", 10)}),
        ("Return the columns of both", {"src/part0.py": module("x", 12), "src/part9.py": lost}),
        ("Take most of them out again", {"src/part0.py": module("y", 12), "src/part9.py": small}),
    ]
    bare(tmp_path / "whole", "acme/alpha", commits)
    blob = lose(bare(tmp_path / "snapshot", "acme/alpha", commits), lost)
    manifest = tmp_path / "manifest.tsv"

    line = mined(tmp_path / "snapshot", tmp_path / "first")["acme/alpha"]
    assert line.split("\t")[3] == f"files=5000 commits=1500 merges=400 until={blob}"
    write_manifest([Line(*line.split("\t"))], manifest)
    asked = ("--manifest", str(manifest))
    for name in ("snapshot", "whole"):
        assert mined(tmp_path / name, tmp_path / name / "again", *asked)["acme/alpha"] == line
        pairs = pairs_of(tmp_path / name / "again", "acme/alpha")
        assert pairs == pairs_of(tmp_path / "first", "acme/alpha")

    lines = mined(tmp_path / "whole", tmp_path / "all")
    more = pairs_of(tmp_path / "all", "acme/alpha")
    assert len([1 for kind, *_ in more if kind == "c"]) > len(
        [1 for kind, *_ in pairs if kind == "c"]
    )
    write_manifest([Line(*lines["acme/alpha"].split("\t"))], manifest)
    with pytest.raises(SystemExit, match=f"missing in the history.*\n.*acme/alpha .*until={blob}"):
        mined(tmp_path / "snapshot", tmp_path / "refused", *asked)


def test_a_name_that_is_not_there_is_refused_rather_than_everything_mined(tmp_path: Path) -> None:
    bare(tmp_path / "from", "acme/alpha", history("alpha"))
    with pytest.raises(SystemExit, match="not among the repositories: acme/aplha"):
        mined(tmp_path / "from", tmp_path / "pairs", "acme/alpha", "acme/aplha")
    assert not list((tmp_path / "pairs").iterdir())


def test_a_manifest_whose_commits_are_not_all_there_is_refused_by_name(tmp_path: Path) -> None:
    bare(tmp_path / "from", "acme/alpha", history("alpha"))
    manifest = tmp_path / "manifest.tsv"
    depth = str(Depth())
    write_manifest(
        [
            Line("acme/alpha", "1" * 40, "MIT", depth, ""),
            Line("acme/beta", "2" * 40, "MIT", depth, ""),
        ],
        manifest,
    )
    with pytest.raises(SystemExit, match=f"(?s)^2 commits.*acme/alpha {'1' * 40}.*acme/beta 222"):
        mined(tmp_path / "from", tmp_path / "pairs", "--manifest", str(manifest))
    assert not list((tmp_path / "pairs").iterdir())
