"""Settings from flags, the environment and the user's file, and where each came from.

Order: ``--set key=value``, ``SIGHTLINE_KEY``, ``sightline.toml`` in the user's configuration
folder, defaults. A file inside a workspace is never read.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from sightline.cli.exits import CommandError, Exit
from sightline.cli.folders import Folders
from sightline.contract.settings import BadSetting, Settings
from sightline.contract.texts import did_you_mean
from sightline.lsp.registry import BadRegistry, Registry, builtin, load

__all__ = ["Configuration", "configure"]

_PREFIX = "SIGHTLINE_"
#: A name with more is another one.
_MOST_SLIPS = 3
#: Tables, which a variable cannot hold.
_FILE_ONLY = ("clients", "roots")
_REGISTRY_TABLES = ("servers", "languages")


class Configuration(Struct, frozen=True):
    settings: Settings
    #: Per key: "flag", "environment", "file" or "default".
    origins: Mapping[str, str]
    warnings: Sequence[str]
    registry: Registry

    def place_of(self, folders: Folders, key: str) -> str:
        """Where the user gave a setting its value."""
        origin = self.origins[key]
        places = {"file": str(folders.settings), "environment": f"{_PREFIX}{key.upper()}"}
        return places.get(origin, "--set")


def configure(
    folders: Folders,
    environment: Mapping[str, str],
    flags: Sequence[str] = (),
    **options: Any,  # noqa: ANN401
) -> Configuration:
    """The effective configuration. ``options`` are flags with a name of their own."""
    known = Settings.__struct_fields__
    tables = _read_file(folders)
    for name in _REGISTRY_TABLES:
        if not _is_table_of_tables(tables.get(name, {})):
            takes = f"{name} takes tables, such as [{name}.NAME]"
            raise CommandError(f"{folders.settings}: {takes}")
    values = {key: value for key, value in tables.items() if key not in _REGISTRY_TABLES}
    origins = dict.fromkeys(known, "default") | dict.fromkeys(values, "file")
    for key in known:
        variable = _PREFIX + key.upper()
        if variable in environment:
            values[key], origins[key] = environment[variable], "environment"
    for key, value in [*map(_split, flags), *options.items()]:
        if value is not None:
            values[key], origins[key] = value, "flag"
    try:
        settings, warnings = Settings.parse(values)
        registry = load({k: tables.get(k, {}) for k in _REGISTRY_TABLES}, builtin())
    except BadSetting as bad:
        where = {"file": f"{folders.settings}: ", "environment": f"{_PREFIX}{bad.key.upper()}: "}
        # [server.ty], for [servers.ty]
        table = did_you_mean(bad.key, _REGISTRY_TABLES) if bad.key not in known else ""
        said = f"there is no setting {bad.key!r}; {table}" if table else str(bad)
        raise CommandError(where.get(origins[bad.key], "") + said, Exit.REFUSED) from None
    except BadRegistry as bad:
        raise CommandError(f"{folders.settings}: {bad}", Exit.REFUSED) from None
    warnings = [*warnings, *_misspelled(environment, known)]
    return Configuration(settings, origins, warnings, registry)


def _misspelled(environment: Mapping[str, str], known: Sequence[str]) -> list[str]:
    """Variables that look like settings and are none. Others may be somebody else's."""
    others = (key.removeprefix(_PREFIX) for key in sorted(environment) if key.startswith(_PREFIX))
    strange = [key for key in others if key.lower() not in known]
    given = [each.upper() for each in known if each not in _FILE_ONLY]
    near = ((key, _nearest(key, given)) for key in strange)
    return [
        f"{_PREFIX}{key} is ignored: there is no such setting; did you mean {_PREFIX}{meant}?"
        for key, meant in near
        if meant
    ]


def _nearest(name: str, known: Sequence[str]) -> str:
    """The setting that a name is a slip of, or nothing: other programs have names, too.

    >>> [_nearest(name, ["PORT", "TOKENIZER", "FAMILIES"]) for name in ("PROT", "FAMILY", "TOKEN")]
    ['PORT', 'FAMILIES', '']
    """
    import difflib  # which takes a moment, and only mistakes need

    found = difflib.get_close_matches(name, known, n=1)
    most = min(_MOST_SLIPS, len(name) // 2)
    return found[0] if found and _slips(name, found[0]) <= most else ""


def _slips(one: str, other: str) -> int:
    """How many letters are wrong, missing or too many."""
    above = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        row = [number]
        for place, each in enumerate(other):
            row.append(min(above[place] + (letter != each), above[place + 1] + 1, row[-1] + 1))
        above = row
    return above[-1]


def _read_file(folders: Folders) -> dict[str, Any]:
    try:
        text = folders.settings.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CommandError(f"{folders.settings} cannot be read ({error.strerror})") from None
    import tomllib  # most users have no such file, and every start would pay for it

    try:
        return tomllib.loads(text.decode())
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise CommandError(f"{folders.settings} is not valid TOML: {error}") from None


def _is_table_of_tables(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(table, dict) for table in value.values())


def _split(flag: str) -> tuple[str, str]:
    key, equals, value = flag.partition("=")
    if not equals:
        raise CommandError(f"--set takes KEY=VALUE, not {flag!r}", Exit.USAGE)
    return key.strip(), value
