"""Caches of code for ``sightline context``: built through the index, and explained."""

import asyncio
import os
from collections.abc import Iterator

from sightline.cli.bars import Bar
from sightline.cli.folders import Folders, private
from sightline.context.build import BuildIO, check_replaceable
from sightline.context.code.answer import chosen, spelled
from sightline.context.code.corpus import Corpus
from sightline.context.code.export import export
from sightline.context.code.read import CodeCache
from sightline.context.manifest import Manifest
from sightline.contract.failures import Failure
from sightline.index.index import Index
from sightline.index.texts import Outdated, Texts
from sightline.workspace.changes import Change, Kind
from sightline.workspace.roots import BadRoot, Root, open_root
from sightline.workspace.workspace import Workspace

__all__ = ["build_code", "explained"]

_MAX_ATTEMPTS = 4
_MAX_LEFT_OUT = 10


def build_code(sources: str, cache: str, *, force: bool) -> Manifest:
    """Brings the index of a repository up to date and writes the cache of what is in it."""
    if os.path.exists(cache) and not force:
        raise BuildIO(f"Output directory already exists: {cache}")
    folders = Folders(os.environ)
    try:
        root = open_root(os.path.abspath(sources), home=os.environ.get("HOME"))
    except BadRoot as bad:
        raise BuildIO(str(bad)) from None
    if force:
        check_replaceable(cache, sources)
    bar = Bar()
    try:
        return asyncio.run(_build(root, cache, private(folders.cache), bar, force=force))
    except Failure as failure:
        raise BuildIO(failure.advice) from None
    finally:
        bar.clear()


async def _build(
    root: Root, cache: str, own: os.PathLike[str], bar: Bar, *, force: bool
) -> Manifest:
    workspace = Workspace([root], notify=False)
    index = Index(workspace, environment=os.environ, cache=os.fspath(own))
    try:
        for _ in range(_MAX_ATTEMPTS):
            await workspace.begin()
            await index.build(bar, force=False)
            builder = index.builders[root.real]
            assert builder.snapshot is not None
            await index.finish_vectors(bar)
            corpus = Corpus(builder.snapshot, Texts(builder.snapshot, root.real), index.lookup)
            corpus.matrix = await index.dense.matrix(builder, builder.snapshot)
            try:
                return await asyncio.to_thread(export, corpus, cache, replace=force)
            except Outdated as outdated:
                builder.note([Change(outdated.real, Kind.CHANGED)])
        raise BuildIO("files change faster than they can be read; build again")
    finally:
        await index.close()
        workspace.close()


def explained(cache: CodeCache, query: str, budget: int) -> Iterator[str]:
    """Why each piece was taken, line by line."""
    found = chosen(cache.corpus, query, budget, lambda: None)
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
