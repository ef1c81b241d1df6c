"""The house is as the documents say: packages, tables, sizes, schemas."""

import ast
import re
from pathlib import Path

import pytest

from sightline.calls.families import CODES
from sightline.contract import failures, limits
from sightline.tools.catalogue import CATALOGUE

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sightline"
MAX_LINES = 800
PYTHON = [p for folder in ("src", "tests", "bench", "tools") for p in (ROOT / folder).rglob("*.py")]


def table(document: str, heading: str) -> list[list[str]]:
    """The rows of the first table below a heading."""
    text = (ROOT / document).read_text(encoding="utf-8").partition(heading)[2]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    body = rows[2 : next((i for i, _ in enumerate(rows) if i > 2 and _ends(text, rows, i)), None)]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in body]


def _ends(text: str, rows: list[str], index: int) -> bool:
    """Whether the table is over before this row: another line stands between them."""
    between = text.partition(rows[index - 1])[2].partition(rows[index])[0]
    return between.strip() != ""


def test_the_code_map_names_exactly_the_packages() -> None:
    text = (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")
    mapped = set(re.findall(r"^### `(\w+)`", text, re.MULTILINE))
    packages = {p.parent.name for p in SOURCE.glob("*/__init__.py")}
    assert mapped == packages


@pytest.mark.parametrize("package", ["lsp", "index"])
def test_the_large_rooms_are_mapped_module_by_module(package: str) -> None:
    mapped = [name for row in table("docs/ARCHITECTURE.md", f"### `{package}`") for name in row[2:]]
    named = re.findall(r"`(\w+)/?`", " ".join(mapped))
    files = (path for path in (SOURCE / package).rglob("*.py") if path.parent.name != "install")
    modules = [path.stem for path in files if path.stem != "__init__"]
    assert sorted(named) == sorted(modules + (["install"] if package == "lsp" else []))


def test_every_limit_in_the_contract_is_the_one_in_the_code() -> None:
    for name, value in table("docs/CONTRACT.md", "## 5. Limits"):
        assert getattr(limits, name) == int(value.replace(",", "")), name


def test_the_error_table_is_the_one_in_the_code() -> None:
    documented = {row[0]: row[1:] for row in table("docs/CONTRACT.md", "## 6. Errors")}
    coded = {
        kind.__name__: [str(number), code, index or "-", context or "-"]
        for kind, ((number, code), index, context) in CODES.items()
    }
    assert documented == coded


def test_every_failure_has_a_row() -> None:
    def leaves(kind: type[failures.Failure]) -> set[type[failures.Failure]]:
        below = set().union(*(leaves(child) for child in kind.__subclasses__()))
        return below | ({kind} if not below or kind in CODES else set())

    assert leaves(failures.Failure) == set(CODES)


def test_the_failure_tree_is_drawn_completely() -> None:
    drawing = ast.get_docstring(ast.parse((SOURCE / "contract/failures.py").read_text()))
    assert drawing is not None
    for kind in CODES:
        assert kind.__name__ in drawing


def test_the_catalogue_table_lists_every_tool_in_order() -> None:
    documented = [
        name
        for row in table("docs/CONTRACT.md", "## 2. Catalogue")
        for name in re.findall(r"`([^`]+)`", row[1])
    ]
    names = [tool.info.name for tool in CATALOGUE]
    assert [name for name in documented if name in names] == names


def test_what_changes_together_exists() -> None:
    for _, also in table("AGENTS.md", "## Contract first"):
        for path in also.split(", "):
            assert (ROOT / path).exists(), path


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_file_outgrows_the_house(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_files_are_short_in_the_middle() -> None:
    sizes = sorted(len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCE.rglob("*.py"))
    sizes = [size for size in sizes if size > 5]
    assert sizes[len(sizes) // 2] <= 170


def test_every_module_says_what_it_is() -> None:
    silent = [p for p in SOURCE.rglob("*.py") if not ast.get_docstring(ast.parse(p.read_text()))]
    assert silent == []


#: Who opens files of a workspace has looked at what may go wrong, and opens nothing else.
SAFE_READERS = {
    "text/readable.py",
    "workspace/gate.py",
    "workspace/regular.py",
}
#: These open what is ours or the system's.
OTHER_FILES = {
    "lsp/c/kept_index.py": "a database and an index in the per-user cache",
    "lsp/c/shards.py": "an index in the per-user cache",
    "lsp/install/archives.py": "an archive that was verified",
    "lsp/install/installer.py": "an archive that was downloaded",
    "lsp/install/locks.py": "data of the package",
    "lsp/install/manifest.py": "the per-user store",
    "lsp/install/store.py": "the per-user store",
    "lsp/registry.py": "data of the package",
    "lsp/start/slots.py": "a lock in the per-user cache",
    "workspace/mounts.py": "the system's list of mounts",
    "workspace/private_files.py": "per-user files",
}


def test_files_of_a_workspace_are_opened_in_few_places() -> None:
    """A plain ``open`` of a pipe, or of a link to a terminal, never comes back."""
    opening = {"open", "read_text", "read_bytes", "fdopen"}
    found = set()
    for folder in ("lsp", "text", "workspace"):
        for file in (SOURCE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call):
                    continue
                called = node.func
                plain = isinstance(called, ast.Name) and called.id == "open"
                if plain or (isinstance(called, ast.Attribute) and called.attr in opening):
                    found.add(str(file.relative_to(SOURCE)))
    through_the_gate = {"workspace/view.py"}
    assert found == SAFE_READERS | OTHER_FILES.keys() | through_the_gate


def test_generated_pages_are_current() -> None:
    from tools.repo_map import render

    assert (ROOT / "docs/REPO_MAP.md").read_text(encoding="utf-8") == render()


def test_no_machine_path_or_registry_host_is_committed() -> None:
    import subprocess

    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    forbidden = re.compile(r"(?<![\w.])/(?:work|farm)/[a-z]|registry\.npmjs|pypi\.org|pythonhosted")
    for name in listed:
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            text = path.read_bytes().decode("utf-8", "replace")
            assert not forbidden.search(text) or name == "tests/test_house.py", name
