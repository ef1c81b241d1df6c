"""``make model`` as one command: from bare repositories to weights that answer, and their card.

The scale is small, so that it takes a minute on a CPU. What comes out is a model that works, not
one that is good. torch is big, so ``make test-model`` brings it and runs this.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.meaning.opened import opened
from sightline.index.dense.weights import DIGEST, bundled, read_weights
from tests.training.made import GPL, bare, history, module
from training.whole import SCALES, compare

_ROOT = Path(__file__).parent.parent.parent
_HELD_OUT = "tornadoweb/tornado"


def test_without_the_commits_of_the_manifest_nothing_is_made(tmp_path: Path) -> None:
    bare(tmp_path / "from", _HELD_OUT, history("held out"))
    work = tmp_path / "work"
    given = ("--repositories", tmp_path / "from", "--work", work)
    done = subprocess.run(
        [sys.executable, "-m", "training.whole", *map(str, given)],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "commits of the manifest are missing" in done.stderr and _HELD_OUT in done.stderr
    assert not list((work / "pairs").iterdir())


@pytest.mark.parametrize(("made", "said"), [("a1", "the same data"), ("b2", "OTHER data")])
def test_it_is_said_whether_the_data_are_those_of_the_shipped_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], made: str, said: str
) -> None:
    for name, digest in (("made", made), ("shipped", "a1")):
        tmp_path.joinpath(name).write_text(json.dumps({"digest": digest}), "utf-8")
    compare(tmp_path / "made", tmp_path / "shipped")
    assert capsys.readouterr().out.startswith(said)


@pytest.mark.model
@pytest.mark.slow
def test_every_step_from_repositories_to_weights_that_answer(tmp_path: Path) -> None:
    repositories, work, into = tmp_path / "from", tmp_path / "work", tmp_path / "into"
    for name in ("acme/alpha", "acme/beta", "acme/gamma"):
        bare(repositories, name, history(name))
    bare(repositories, _HELD_OUT, history("held out"))
    bare(repositories, "preactjs/preact", history("chosen on"))
    bare(repositories, "django/django", history("measured on"))
    bare(repositories, "acme/bound", [("Begin", {"LICENSE": GPL, "a.py": module("bound", 4)})])
    # Two leaks: a question of an evaluation set, and the code of another.
    first, second = module("acme/alpha 0", 20).split("\n\n\n")[:2]
    asked = first.split('"""')[1]
    guard = tmp_path / "guard.jsonl"
    rows = [{"query": asked, "code": ""}, {"query": "", "code": second}]
    guard.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    options = f"--scale small --into {into} --guard {guard}"
    site = os.environ["MODEL_SITE"]
    command = ["make", "model", f"REPOSITORIES={repositories}", f"MODEL={work}"]
    subprocess.run(
        [*command, f"MODEL_SITE={site}", f"MODEL_OPTIONS={options}"], cwd=_ROOT, check=True
    )

    used = (into / "results" / "manifest.tsv").read_text("utf-8").splitlines()[1:]
    assert [line.split("\t")[0] for line in used] == [
        "acme/alpha", "acme/beta", "acme/gamma", _HELD_OUT,
    ]  # fmt: skip
    counts = json.loads((into / "results" / "packed.json").read_text("utf-8"))["counts"]
    assert counts["dropped: query of an evaluation set"] >= 1
    assert counts["dropped: code of an evaluation set"] >= 1
    reports = [json.loads(p.read_text("utf-8")) for p in sorted(work.glob("seed*/report.json"))]
    assert [report["recipe"]["seed"] for report in reports] == [0, 1, 2]
    for report in reports:
        losses = [loss for _, loss in report["losses"]]
        assert losses[-1] < losses[0]
        assert report["agreement"]["query_mean"] > 0.95 and report["agreement"]["chunk_mean"] > 0.95
        assert list(report["held_out"]["repository"]) == [_HELD_OUT]

    _made_again(tmp_path / "again", work, guard, site)
    weights = read_weights(str(into / "model.weights"))
    assert weights.digest in (into / "model-card.md").read_text("utf-8")
    tuned = json.loads((into / "results" / "weights.json").read_text("utf-8"))
    assert tuned[f"question, {_HELD_OUT}"]["count"] >= 20
    asyncio.run(_answers(tmp_path / "code", str(into / "model.weights")))
    assert bundled().digest == DIGEST != weights.digest  # the package was left as it is


def _made_again(folder: Path, work: Path, guard: Path, site: str) -> None:
    """The same pairs give the same bytes, on a CPU also those of the weights."""
    packed, small = folder / "packed.xz", SCALES["small"]
    for module_name, *given in (
        (
            "pack",
            "--pairs",
            work / "pairs",
            "--into",
            packed,
            "--guard",
            guard,
            *small.pack.split(),
        ),
        ("train", "--data", packed, "--into", folder, "--seed", "0", *small.train.split()),
    ):
        command = [sys.executable, "-m", f"training.{module_name}", *map(str, given)]
        path = f"{_ROOT}{os.pathsep}{site}"
        subprocess.run(command, cwd=_ROOT, env=os.environ | {"PYTHONPATH": path}, check=True)
    assert packed.read_bytes() == (work / "packed.xz").read_bytes()
    first = work / "seed0" / "model.weights"
    assert (folder / "model.weights").read_bytes() == first.read_bytes()


async def _answers(folder: Path, path: str) -> None:
    """The new weights find unseen code without its docs by these, more often than chance would."""
    weights = read_weights(path)
    functions = module("unseen", 40).split("\n\n\n")
    docs = [text.split('"""')[1] for text in functions]
    bodies = [
        text.replace(f'    """{doc}"""\n', "") for text, doc in zip(functions, docs, strict=True)
    ]
    folder.mkdir()
    folder.joinpath("unseen.py").write_text("\n\n".join(bodies), "utf-8")
    async with opened(folder, weights) as corpus:
        answers = [corpus.searched(doc, vectors=True) for doc in docs]
        assert all(answers)
        first = [[corpus.names[chunk][1] for chunk, _ in corpus.nearest(doc)[:4]] for doc in docs]
        found = [any(name.endswith(f"_{n}") for name in names) for n, names in enumerate(first)]
        assert sum(found) > len(found) / 4  # by chance a tenth
