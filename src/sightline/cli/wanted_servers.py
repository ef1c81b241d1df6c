"""From what a user names, servers or languages, to the servers or packages that are meant."""

from collections.abc import Iterator, Sequence

from sightline.cli.exits import CommandError, Exit
from sightline.contract.texts import did_you_mean
from sightline.lsp.registry import Registry

__all__ = ["meant", "wanted"]


def wanted(registry: Registry, action: str, names: Sequence[str], *, everything: bool) -> list[str]:
    """The packages that are meant, each once."""
    if everything:
        return list(registry.packages)
    if not names:
        known = ", ".join(registry.packages)
        raise CommandError(f"name what to {action}, or pass --all: {known}", Exit.USAGE)
    found = [package for name in names for package in _named(registry, action, name)]
    return list(dict.fromkeys(found))


def meant(registry: Registry, names: Sequence[str]) -> list[str]:
    """The servers to list, in the order of the registry: all if none is named."""
    if not names:
        return list(registry.servers)
    chosen: set[str] = set()
    for name in names:
        of_package = {each for each, spec in registry.servers.items() if spec.package == name}
        language = _language(registry, name)
        if name in registry.servers:
            chosen.add(name)
        elif of_package:
            chosen |= of_package
        elif language is not None:
            chosen.update(_servers_of(registry, language, name))
        else:
            raise _unknown(registry, name)
    return [name for name in registry.servers if name in chosen]


def _named(registry: Registry, action: str, name: str) -> Iterator[str]:
    if name in registry.packages:
        yield name
    elif name in registry.servers:
        yield from _package(registry, action, name)
    elif (language := _language(registry, name)) is not None:
        servers = _servers_of(registry, language, name)
        if action == "remove":  # all that there may be
            yield from filter(None, (registry.servers[server].package for server in servers))
        else:  # the one that is asked first
            yield from _package(registry, action, servers[0])
    else:
        raise _unknown(registry, name)


def _servers_of(registry: Registry, language: str, name: str) -> Sequence[str]:
    servers = registry.servers_for(language)
    if not servers:
        raise CommandError(f"no server for {name} is known; docs/add-a-language.md helps")
    return servers


def _unknown(registry: Registry, name: str) -> CommandError:
    served = (language for language in registry.languages if registry.servers_for(language))
    known = [*registry.servers, *registry.packages, *served]
    hint = did_you_mean(name, known) or "sightline servers list names them"
    return CommandError(f"there is no server {name!r}; {hint}")


def _package(registry: Registry, action: str, server: str) -> Iterator[str]:
    spec = registry.servers[server]
    if spec.package:
        yield spec.package
    elif spec.found == "bundled" and action == "install":
        print(f"{server} {registry.version_of(server)}: comes with Sightline")
    elif spec.found == "bundled":
        raise CommandError(f"{server} comes with Sightline and goes with it")
    else:
        how = f": {spec.get}" if spec.get else ""
        raise CommandError(f"{server} is not installed by Sightline{how}")


def _language(registry: Registry, name: str) -> str | None:
    titles = {spec.title.lower(): language for language, spec in registry.languages.items()}
    return name if name in registry.languages else titles.get(name.lower())
