"""When the window's answers may be believed.

An editor says "nothing" for nothing found, for nobody there and for still loading alike. So a
language must first name a symbol that Sightline read in a file nobody opened, and an empty answer
counts only after the same kind of question had an answer at that symbol. Until then: ``NotReady``,
and ``Unavailable`` when nobody will ever answer.
"""

import contextlib
from collections.abc import Callable, Sequence
from typing import NoReturn

from sightline.contract.failures import Failure, NotReady, TooMany, Unavailable
from sightline.contract.uris import path_of
from sightline.contract.values import Position
from sightline.editor import canaries
from sightline.editor import messages as m
from sightline.editor.canaries import Canary, Survey
from sightline.editor.languages import LANGUAGES, family, language_of
from sightline.editor.window import Window
from sightline.workspace.roots import Root

__all__ = ["Readiness"]

#: How long a language may load before its silence is taken as "nobody is there".
SILENCE_S = 60.0
#: How long a new file is waited for before it is taken as one that the language leaves out.
NEW_FILE_S = 10.0
_MAX_CANARIES = 5

#: Per kind of question, what its answer is decoded as.
_RESULTS: dict[m.Ask, type[m.LocationsAnswer | m.HoverAnswer | m.SymbolsAnswer]] = {
    "definition": m.LocationsAnswer,
    "references": m.LocationsAnswer,
    "hover": m.HoverAnswer,
    "documentSymbols": m.SymbolsAnswer,
}


class Readiness:
    def __init__(self, window: Window, clock: Callable[[], float]) -> None:
        self._window = window
        self._clock = clock
        #: Per language and root: the symbol that was named, or ``None`` where none can be asked.
        self._loaded: dict[tuple[str, str], Canary | None] = {}
        self._answering: set[tuple[str, m.Ask]] = set()
        self._asked_since: dict[tuple[str, str], float] = {}
        self._identity = window.identity
        self._surveyed: tuple[object, dict[str, Survey]] = (object(), {})

    async def load(self, language_id: str, root: Root) -> bool:
        """Makes sure that a language has loaded a root. Whether that was not known before."""
        self._forget_others()
        language = family(language_id)
        key = (language, root.real)
        if key in self._loaded:
            return await self._know_new_files(language)
        self._check_rule(language)
        asked = self._canaries(language, root)
        named = await self._named(asked)
        if asked and named is None:
            await self._refuse(key)
        self._loaded[key] = named
        await self._know_new_files(language)
        return True

    async def confirm(self, ask: m.Ask, language_id: str, root: Root) -> None:
        """Makes sure that an empty answer to this kind of question means nothing found."""
        language = family(language_id)
        if (language, ask) in self._answering:
            return
        canary = self._loaded.get((language, root.real)) or self._any_canary(language, root)
        if canary is not None:
            answer = await self._window.bridge.ask(
                ask,
                _RESULTS[ask],
                uri=self._window.uri(canary.path),
                position=Position(canary.line, canary.character),
                include_declaration=True if ask == "references" else None,
            )
            if not is_empty(answer):
                self._answering.add((language, ask))
                return
        title = _title(language)
        raise Unavailable(f"no extension of the editor answers {ask} for {title}")

    def answered(self, ask: m.Ask, language_id: str) -> None:
        """This kind of question had an answer."""
        self._answering.add((family(language_id), ask))

    # Loading

    def _forget_others(self) -> None:
        """Other extensions, other settings: everything must be shown again."""
        if self._identity != self._window.identity:
            self._identity = self._window.identity
            self._loaded.clear()
            self._answering.clear()
            self._asked_since.clear()

    def _check_rule(self, language: str) -> None:
        row = LANGUAGES.get(language)
        if (row is None or not row.at_once) and not self._window.accept_unproven:
            raise Unavailable(
                f"the editor's extension for {_title(language)} gives no sign of having loaded; "
                "set sightline.acceptUnproven, or use sightline serve, which knows when"
            )

    async def _named(self, asked: list[Canary]) -> Canary | None:
        """The first symbol that the window can name."""
        for canary in asked:
            if await self._is_named(canary):
                return canary
        return None

    async def _refuse(self, key: tuple[str, str]) -> NoReturn:
        language, _ = key
        title = _title(language)
        since = self._asked_since.setdefault(key, self._clock())
        sample = next(iter(self._samples(language)), None)
        extension = "active"
        if sample is not None:
            prepared = await self._window.bridge.ask(
                "prepare", m.PreparedAnswer, uris=[self._window.uri(sample)]
            )
            extension = prepared.extension
        if extension == "none":
            raise Unavailable(f"no extension for {title} is installed and enabled in the editor")
        if self._clock() - since > SILENCE_S:
            raise Unavailable(
                f"the editor's extension for {title} names no symbol of the workspace"
            )
        raise NotReady(waiting_for=f"the editor's extension for {title} to load the workspace")

    def _canaries(self, language: str, root: Root) -> list[Canary]:
        paths = self._survey(root).candidates(language, self._window.documents)
        found = (canaries.read_canary(path, self._text) for path in paths)
        return [canary for canary in found if canary is not None][:_MAX_CANARIES]

    def _any_canary(self, language: str, root: Root) -> Canary | None:
        """A declaration in any file, open or not."""
        paths = self._survey(root).candidates(language, ())
        found = (canaries.read_canary(path, self._text) for path in paths)
        return next((canary for canary in found if canary is not None), None)

    def _survey(self, root: Root) -> Survey:
        return self._surveys().get(root.real, Survey({}, {}, set()))

    def _surveys(self) -> dict[str, Survey]:
        """The files of every root by language, as long as none comes or goes."""
        workspace = self._window.workspace
        state = workspace.tree_state()
        if self._surveyed[0] != state:
            found = {root.real: canaries.survey(tree) for root, tree in workspace.trees()}
            self._surveyed = (state, found)
        return self._surveyed[1]

    async def _is_named(self, canary: Canary) -> bool:
        try:
            answer = await self._window.bridge.ask(
                "workspaceSymbols", m.WorkspaceSymbolsAnswer, query=canary.name
            )
        except TooMany:
            return False  # so common a name tells nothing
        own = self._window.uri(canary.path)
        return any(
            symbol.name.startswith(canary.name) and _same_file(symbol.uri, own)
            for symbol in answer.symbols
        )

    async def _know_new_files(self, language: str) -> bool:
        """Waits for files that came to be known. Whether there were any.

        The newest decides: a language that takes files over at once knows the older ones too.
        """
        created = [path for path in self._window.created if language_of(path) == language]
        for path in reversed(created):
            canary = canaries.read_canary(path, self._text)
            if canary is None:
                continue
            if await self._is_named(canary):
                break
            if self._clock() - self._window.created.get(path, 0) <= NEW_FILE_S:
                raise NotReady(
                    waiting_for=f"the editor's extension for {_title(language)} to read a new file"
                )
        for path in created:
            self._window.created.pop(path, None)
        return bool(created)

    def _samples(self, language: str) -> list[str]:
        return [
            path
            for found in self._surveys().values()
            for path in found.samples(language, lambda path: self._text(path) is not None)
        ]

    def _text(self, path: str) -> str | None:
        with contextlib.suppress(Failure):
            return self._window.workspace.read(self._window.uri(path)).text
        return None

    # The workspace as a whole

    async def load_all(self) -> tuple[str, ...]:
        """Makes sure that every language of the roots has loaded them; titles of those without."""
        self._forget_others()
        uncovered: list[str] = []
        covered = False
        waiting: NotReady | None = None
        for language in self._present():
            try:
                await self._load_everywhere(language)
                covered = True
            except Unavailable:
                uncovered.append(_title(language))
            except NotReady as loading:
                waiting = loading
        if waiting is not None:
            raise waiting
        if not covered:
            raise Unavailable("no extension of the editor answers for the files here")
        return tuple(uncovered)

    async def load_named(self, languages: Sequence[str]) -> bool:
        """Like ``load``, in every root that has files of these languages."""
        new = False
        for language_id in languages:
            for root, _ in self._window.workspace.trees():
                if family(language_id) in self._survey(root).files:
                    new = await self.load(language_id, root) or new
        return new

    async def _load_everywhere(self, language: str) -> None:
        uris = [self._window.uri(path) for path in self._samples(language)]
        prepared = await self._window.bridge.ask("prepare", m.PreparedAnswer, uris=uris)
        if prepared.extension == "none":
            raise Unavailable
        if not prepared.loaded:
            await self.load_named([language])

    def _present(self) -> list[str]:
        """The languages that occur in the roots."""
        return sorted({name for found in self._surveys().values() for name in found.files})


def is_empty(answer: m.LocationsAnswer | m.HoverAnswer | m.SymbolsAnswer) -> bool:
    match answer:
        case m.LocationsAnswer(locations=locations):
            return not locations
        case m.HoverAnswer():
            return answer.hover() is None
    return not answer.symbols


def _same_file(one: str, two: str) -> bool:
    with contextlib.suppress(Failure):
        return path_of(one) == path_of(two)
    return False


def _title(language: str) -> str:
    row = LANGUAGES.get(language)
    return row.title if row is not None else language or "this kind of file"
