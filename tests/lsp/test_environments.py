"""Which environment a Python project uses: its own, what tools keep for it, the active one."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from sightline.lsp.python.discovery import Environments, digest_of
from sightline.workspace.beside import Beside
from tests.support.files import write_files

HOME = "home = /usr/bin\nversion = 3.11.2\n"


def environment(folder: Path) -> str:
    write_files(folder, {"pyvenv.cfg": HOME})
    return str(folder)


def poetry(home: Path, project: Path, version: str = "3.11") -> Path:
    name = f"app-{digest_of(str(project))}-py{version}"
    return home / ".cache/pypoetry/virtualenvs" / name


def pipenv(home: Path, project: Path, end: str = "") -> Path:
    name = f"{project.name}-{digest_of(f'{project}/Pipfile')}{end}"
    return home / ".local/share/virtualenvs" / name


def found(home: Path, project: Path, top: str = "", **variables: str) -> str | None:
    looked = Environments.look({"HOME": str(home), **variables})
    return looked.of(str(project), top or str(project))


@pytest.mark.parametrize(
    ("path", "digest"),
    [
        ("/srv/app", "2uZo5AhP"),  # both as Poetry 2.5.1 names them
        ("/srv/Ünï", "zmhOybtO"),
        ("/srv/x/Pipfile", "4ZTrWBSw"),  # as Pipenv 2026.10.3 does
    ],
)
def test_a_path_is_known_by_what_the_tools_know_it_by(path: str, digest: str) -> None:
    assert digest_of(path) == digest


def test_the_nearest_counts_and_the_active_one_last(tmp_path: Path) -> None:
    home, top = tmp_path / "home", tmp_path / "repository"
    project = top / "packages/app"
    project.mkdir(parents=True)
    active = environment(tmp_path / "active")

    def now() -> str | None:
        return found(home, project, str(top), VIRTUAL_ENV=active)

    assert found(home, project, str(top)) is None
    assert now() == active
    above = environment(poetry(home, top))
    assert now() == above
    inside_above = environment(top / ".venv")
    assert now() == inside_above
    kept = environment(pipenv(home, project))
    assert now() == kept
    kept = environment(poetry(home, project))
    assert now() == kept
    own = environment(project / ".venv")
    assert now() == own


def test_the_chosen_python_counts_and_else_the_newest(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "app"
    environments = {v: environment(poetry(home, project, v)) for v in ("3.9", "3.13", "3.11")}
    poetry(home, project, "3.14").mkdir()  # not finished
    assert found(home, project) == environments["3.13"]
    store = home / ".cache/pypoetry/virtualenvs"
    section = f'[app-{digest_of(str(project))}]\nminor = "3.9"\npatch = "3.9.2"\n'
    write_files(store, {"envs.toml": section})
    assert found(home, project) == environments["3.9"]
    write_files(store, {"envs.toml": "[" * 5})
    assert found(home, project) == environments["3.13"]


def test_pipenv_may_name_the_python(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "app"
    kept = environment(pipenv(home, project, "-python3.11"))
    environment(home / f".local/share/virtualenvs/app-{digest_of('/elsewhere/Pipfile')}")
    assert found(home, project) == kept


@pytest.mark.parametrize(
    ("variables", "settings"),
    [
        ({"POETRY_VIRTUALENVS_PATH": "{there}"}, ""),
        ({"POETRY_VIRTUALENVS_PATH": "~/there"}, ""),
        ({}, '[virtualenvs]\npath = "{there}"\n'),
        ({"POETRY_CACHE_DIR": "{home}"}, '[virtualenvs]\npath = "{{cache-dir}}/there"\n'),
        ({}, 'cache-dir = "{home}"\n[virtualenvs]\npath = "{{cache-dir}}/there"\n'),
    ],
)
def test_where_poetry_keeps_environments_is_its_users_choice(
    tmp_path: Path, variables: Mapping[str, str], settings: str
) -> None:
    home, project = tmp_path / "home", tmp_path / "app"
    there = home / "there"
    kept = environment(there / poetry(home, project).name)
    words = {"there": str(there), "home": str(home)}
    write_files(home, {".config/pypoetry/config.toml": settings.format(**words)})
    given = {key: value.format(**words) for key, value in variables.items()}
    assert found(home, project, **given) == kept


def test_only_an_environment_that_was_activated_is_active(tmp_path: Path) -> None:
    home, project, prefix = tmp_path / "home", tmp_path / "app", tmp_path / "conda"
    (prefix / "conda-meta").mkdir(parents=True)
    conda = {"CONDA_PREFIX": str(prefix)}
    assert found(home, project, **conda, CONDA_DEFAULT_ENV="app") == str(prefix)
    assert found(home, project, **conda, CONDA_DEFAULT_ENV="base") is None
    assert found(home, project, **conda) is None
    assert found(home, project, CONDA_PREFIX=str(home), CONDA_DEFAULT_ENV="app") is None
    assert found(home, project, VIRTUAL_ENV=str(home)) is None
    assert found(home, project, VIRTUAL_ENV="conda") is None
    assert found(home, project, WORKON_HOME="here", POETRY_VIRTUALENVS_PATH="there") is None
    assert Environments.look({}) == Environments()


def test_each_step_towards_an_environment_is_noticed(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "app"
    kept = poetry(home, project)
    steps = [
        kept.parent,
        kept,
        kept / "lib",
        kept / "lib/python3.11",
        kept / "lib/python3.11/site-packages",
        kept / "lib/python3.11/site-packages/dep-1.dist-info",
    ]
    for step in [*steps[:2], kept / "pyvenv.cfg", *steps[2:]]:
        beside = Beside()
        looked = Environments.look({"HOME": str(home)})
        beside.keep(looked.relied_on(str(project), str(project)))
        if step.name == "pyvenv.cfg":
            environment(kept)
        else:
            step.mkdir(parents=True)
        assert beside.changes(), step
    assert found(home, project) == str(kept)


def test_nothing_is_relied_on_in_an_environment_that_is_observed(tmp_path: Path) -> None:
    project = tmp_path / "app"
    environment(project / ".venv")
    assert Environments.look({}).relied_on(str(project), str(project)) == {}
