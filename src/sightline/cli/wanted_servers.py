"""From what a user names, servers or languages, to the packages to install or remove."""

from collections.abc import Iterator, Sequence

from sightline.cli.exits import CommandError, Exit
from sightline.contract.texts import did_you_mean
from sightline.lsp.registry import Registry

__all__ = ["wanted"]


def wanted(registry: Registry, action: str, names: Sequence[str], *, everything: bool) -> list[str]:
    """The packages that are meant, each once."""
    if everything:
        return list(registry.packages)
    if not names:
        known = ", ".join(registry.packages)
        raise CommandError(f"name what to {action}, or pass --all: {known}", Exit.USAGE)
    found = [package for name in names for package in _named(registry, action, name)]
    return list(dict.fromkeys(found))


def _named(registry: Registry, action: str, name: str) -> Iterator[str]:
    if name in registry.packages:
        yield name
    elif name in registry.servers:
        yield from _package(registry, action, name)
    elif (language := _language(registry, name)) is not None:
        servers = registry.servers_for(language)
        if not servers:
            raise CommandError(f"no server for {name} is known; docs/add-a-language.md helps")
        if action == "remove":  # all that there may be
            yield from filter(None, (registry.servers[server].package for server in servers))
        else:  # the one that is asked first
            yield from _package(registry, action, servers[0])
    else:
        served = (language for language in registry.languages if registry.servers_for(language))
        known = [*registry.servers, *registry.packages, *served]
        hint = did_you_mean(name, known) or "sightline servers list"
        raise CommandError(f"there is no server {name!r}; {hint}")


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
