"""Code for ``sightline context``: caches built through the index, the live index, and reasons."""

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import TypeVar

from sightline.cli.bars import Bar
from sightline.cli.configuration import configure
from sightline.cli.folders import Folders, private
from sightline.cli.loops import plain_runner
from sightline.cli.plain import plain
from sightline.context.build import BuildIO, check_replaceable
from sightline.context.code.answer import answer, chosen, spelled
from sightline.context.code.choose import Chosen
from sightline.context.code.corpus import Corpus
from sightline.context.code.export import export
from sightline.context.documents import tokens_of
from sightline.context.manifest import Manifest
from sightline.context.select import Selection
from sightline.contract.failures import Failure
from sightline.index.index import Index
from sightline.index.searching.texts import Outdated, Texts
from sightline.workspace.changes import Change, Kind
from sightline.workspace.exclusions import chosen as chosen_root
from sightline.workspace.roots import BadRoot, Root, open_root
from sightline.workspace.workspace import Workspace

__all__ = ["answered", "build_code", "explained", "with_live"]

T = TypeVar("T")
#: Raises when the work is no longer wanted.
Pause = Callable[[], None]
#: What is made of the index. It runs in a thread, which ends where it pauses.
Work = Callable[[Corpus, Pause], T]

_MAX_ATTEMPTS = 4
_MAX_LEFT_OUT = 10


def build_code(sources: str, cache: str, *, force: bool) -> Manifest:
    """Brings the index of a repository up to date and writes the cache of what is in it."""
    if os.path.exists(cache) and not force:
        raise BuildIO(f"Output directory already exists: {cache}")
    root = _root(sources)
    if force:
        check_replaceable(cache, sources)

    def written(corpus: Corpus, pause: Pause) -> Manifest:
        return export(corpus, cache, replace=force, pause=pause)

    return _run(root, written, whole=True)


def with_live(folder: str, work: Work[T], count: Callable[[str], int]) -> T:
    """What some work makes of the index of a folder, which is brought up to date first."""
    return _run(_root(folder), work, whole=False, count=count)


def _root(folder: str) -> Root:
    try:
        root = open_root(os.path.abspath(folder), home=os.environ.get("HOME"))
    except BadRoot as bad:
        raise BuildIO(str(bad)) from None
    return chosen_root(root, configure(Folders(os.environ), os.environ).settings)


def _run(
    root: Root,
    work: Work[T],
    *,
    whole: bool,
    count: Callable[[str], int] = tokens_of,
) -> T:
    own = private(Folders(os.environ).cache)
    bar = Bar()
    try:
        with plain_runner() as runner:
            return runner.run(_work(root, os.fspath(own), work, count, bar, whole=whole))
    except Failure as failure:
        raise BuildIO(failure.advice) from None
    finally:
        bar.clear()


async def _work(
    root: Root,
    own: str,
    work: Work[T],
    count: Callable[[str], int],
    bar: Bar,
    *,
    whole: bool,
) -> T:
    """Does some work on an index that is up to date; again, if files change meanwhile."""
    workspace = Workspace([root], notify=False)
    index = Index(workspace, environment=os.environ, cache=own)
    wanted = _Wanted()
    try:
        for _ in range(_MAX_ATTEMPTS):
            await workspace.begin()
            await index.build(bar, force=False)
            builder = index.builders[root.real]
            assert builder.snapshot is not None
            if whole:
                await index.finish_vectors(bar)
            texts = Texts(builder.snapshot, root.real)
            corpus = Corpus(builder.snapshot, texts, index.lookup, count)
            corpus.matrix, corpus.lacking = await index.vectors(builder, builder.snapshot)
            try:
                return await asyncio.to_thread(work, corpus, wanted.check)
            except Outdated as outdated:
                builder.note([Change(outdated.real, Kind.CHANGED)])
        raise BuildIO("files change faster than they can be read; build again")
    finally:
        wanted.no_more = True
        await index.close()
        workspace.close()


class _Wanted:
    """Whether somebody still waits for a thread. One that is left alone would leave its files."""

    no_more = False

    def check(self) -> None:
        if self.no_more:
            raise BuildIO("interrupted")


def answered(query: str, budget: int, corpus: Corpus, pause: Pause) -> Selection:
    return answer(corpus, query, budget, pause)


def explained(query: str, budget: int, corpus: Corpus, pause: Pause = lambda: None) -> str:
    """Why each piece was taken, in lines."""
    said = "".join(_explained(chosen(corpus, query, budget, pause), budget)).rstrip("\n")
    return "\n".join(map(plain, said.split("\n")))


def _explained(found: Chosen, budget: int) -> Iterator[str]:
    used = sum(piece.tokens for piece in found.pieces)
    words = " ".join(term.text for term in found.query.terms)
    yield f"words: {words or '(none)'}\n"
    yield f"ranked by: {found.meaning}\n"
    if found.query.names:
        yield f"names: {' '.join(found.query.names)}\n"
    counts = f"{len(found.pieces)} of {found.considered} pieces"
    yield f"{used} of {budget} tokens, {counts}\n\n"
    for piece in found.pieces:
        form = "full" if piece.is_full else "signature"
        yield f"{spelled(piece.score):<7} {piece.tokens:>6}  {form:<9}  {piece.id}\n"
        for reason in piece.reasons:
            yield f"{'':26}{reason}\n"
    if found.left_out:
        yield f"\nleft out ({len(found.left_out)}), the best of them:\n"
        for piece in found.left_out[:_MAX_LEFT_OUT]:
            tokens = piece.text.full_tokens if piece.text else 0
            yield f"{spelled(piece.score):<7} {tokens:>6}             {piece.id}\n"
