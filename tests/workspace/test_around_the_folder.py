"""Whose programs are not run when a command is started somewhere: those of the project there."""

from pathlib import Path

from sightline.workspace.roots import projects_around


def test_the_folder_and_what_it_is_a_part_of(tmp_path: Path) -> None:
    home = tmp_path / "home"
    here = home / "src/outer/packages/inner/deep"
    here.mkdir(parents=True)
    (home / ".git").mkdir()
    (home / "node_modules").mkdir()
    assert projects_around(str(here), home=str(home)) == (str(here),)
    (here.parent / ".git").write_text("gitdir: elsewhere")
    (home / "src/outer/node_modules").mkdir()
    found = [str(here), str(here.parent), str(home / "src/outer")]
    assert list(projects_around(str(here), home=str(home))) == found


def test_a_home_and_all_of_a_machine_are_no_project(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for folder in (home, tmp_path, Path("/")):
        assert projects_around(str(folder), home=str(home)) == ()
