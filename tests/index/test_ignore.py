"""Our reading of ignore files agrees with Git's own."""

import os
import random
import subprocess
import sys
from io import BufferedReader
from pathlib import Path

import pytest

from sightline.index.building.discover import Discovery
from sightline.workspace import ignore
from sightline.workspace.ignore import Rules
from sightline.workspace.regular import open_regular
from sightline.workspace.tree import scan
from tests.support.files import write_files
from tests.support.program import run

NAMES = ["a", "b", "ab", "a.b", "build", "x.txt", "keep.txt", "é", "a b", "#a", "!a", "[a]", "a\\b"]
PIECES = ["a", "b", "ab", "*", "**", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "*.txt", "*.b", "build",
          "keep.txt", "é", "a b", r"\#a", r"\!a", r"\[a\]", r"a\\b", "[", "[]a]", "[[]", r"\*",
          "x*g", "a**b", "***", "[[:alpha:]]", "[a", r"a\ "]  # fmt: skip


def git(root: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent / "home")}
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        input=stdin,
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def candidates(root: Path, home: Path) -> set[str]:
    """What we would index."""
    tree, whole = scan(str(root))
    assert whole
    found = Discovery(str(root), {"HOME": str(home)}).all(tree)
    return set(found.files)


def not_ignored(root: Path) -> set[str]:
    """What Git says, file by file."""
    every = (file for file in root.rglob("*") if file.is_file() and ".git/" not in str(file))
    files = [str(file.relative_to(root)) for file in every]
    stdin = "\0".join(files).encode()
    out = git(root, "check-ignore", "--no-index", "-z", "--stdin", stdin=stdin)
    return set(files) - set(out.decode().split("\0"))


def line(rng: random.Random) -> str:
    parts = [rng.choice(PIECES) for _ in range(rng.randrange(1, 4))]
    before = rng.choice(["", "", "", "/", "!", "!/"])
    text = before + "/".join(parts) + rng.choice(["", "", "/", "/**", " ", "  "])
    return rng.choice([text, text, text, "# comment", "", text + "\r"])


@pytest.mark.parametrize("seed", range(12))
def test_random_rules(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    home = tmp_path / "home"
    (home / ".config/git").mkdir(parents=True)
    root = tmp_path / "ws"
    root.mkdir()
    git(root, "init", "-q")
    folders = [Path(), *(Path(rng.choice(NAMES)) for _ in range(5))]
    folders += [folder / rng.choice(NAMES) for folder in folders for _ in range(3)]
    for folder in folders:
        if any((root / above).is_file() for above in [folder, *folder.parents]):
            continue
        (root / folder).mkdir(parents=True, exist_ok=True)
        for _ in range(4):
            place = root / folder / rng.choice(NAMES)
            if not place.exists():
                place.write_text("x")
    for _ in range(12):
        for file in [root / ".gitignore", root / rng.choice(folders) / ".gitignore",
                     root / ".git/info/exclude", home / ".config/git/ignore"]:  # fmt: skip
            if file.parent.is_dir() and not file.is_dir():
                file.write_text("\n".join(line(rng) for _ in range(rng.randrange(4))) + "\n")
        assert candidates(root, home) == not_ignored(root), (root / ".gitignore").read_text()


def test_a_worktree_and_a_root_below_the_top(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[core]\n\texcludesFile = {tmp_path}/mine\n")
    (tmp_path / "mine").write_text("*.mine\n")
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    git(main, *who, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(tmp_path / "tree"))
    (main / ".git/info/exclude").write_text("*.out\n")
    tree = tmp_path / "tree"
    (tree / ".gitignore").write_text("/sub/hidden\n*.txt\n")
    (tree / "sub/hidden").mkdir(parents=True)
    for name in ("a.py", "a.out", "a.txt", "a.mine", "hidden/b.py"):
        (tree / "sub" / name).write_text("x")
    assert not_ignored(tree) == {".gitignore", "sub/a.py", ".git"}
    assert candidates(tree, home) == {".gitignore", "sub/a.py"}, "never .git itself"
    assert candidates(tree / "sub", home) == {"a.py"}


def test_a_git_file_that_leads_outside_says_only_what_is_ignored(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever wrote the project chose the folder: no more of it is read, and nothing is shown."""
    write_files(
        tmp_path / "outside",
        {
            "one/commondir": "../common\n",
            "one/info/exclude": "*.py\n",
            "one/HEAD": "ref: hidden-branch\n",
            "common/info/exclude": "hidden-word\n*.out\n",
            "common/info/attributes": "* hidden-attribute\n",
            "common/config": "[core]\n\texcludesFile = hidden-file\n",
        },
    )
    root = write_files(
        tmp_path / "ws", {".git": f"gitdir: {tmp_path}/outside/one\n", "a.py": "x", "a.out": "x"}
    )
    read: list[str] = []

    def watched(path: str, *, links: bool) -> BufferedReader | None:
        read.append(os.path.relpath(path, tmp_path))
        return open_regular(path, links=links)

    monkeypatch.setattr(ignore, "open_regular", watched)
    assert candidates(root, home) == {"a.py"}
    outside = {path for path in read if path.startswith("outside")}
    assert outside == {"outside/one/commondir", "outside/common/info/exclude"}
    said = [
        run(home, "index", *words, cwd=root)
        for words in (("build", "--json"), ("status", "--json"), ("search", "hidden", "--json"))
    ]
    said.append(run(home, "call", "workspace_status", cwd=root))
    assert [done.returncode for done in said] == [0, 0, 0, 0]
    text = "".join(done.stdout + done.stderr for done in said)
    assert "a.out" not in text and "hidden-" not in text and "outside/" not in text


def test_a_hostile_file_costs_nothing() -> None:
    star = "*a" * 2_000
    rules = Rules.parse("\n".join([star, "a?" * 3_000, "[" * 5_000, "*.txt"]), "")
    assert rules.verdict("a" * 3_000 + "b", folder=False) is None
    assert rules.verdict("x.txt", folder=False) is True


# What ignore files may cost


def alternating(number: int, lines: int) -> str:
    """Patterns of either sign in turns, so that no two can be one expression."""
    return "".join(f"{'!' * (i % 2)}*n{number}x{i}*\n" for i in range(lines))


def test_many_ignore_files_take_little_memory(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    for number in range(60):
        write_files(root / f"d{number:02}", {".gitignore": alternating(number, 2_000), "a.py": ""})
    done = subprocess.run(
        [sys.executable, "-c", DISCOVER, str(root)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    grown_mb, unread = map(int, done.stdout.split())
    assert unread == 50, "the first ten folders have used up what a root may have"
    assert grown_mb < 300


DISCOVER = """
import resource, sys
from sightline.index.building.discover import Discovery
from sightline.workspace.tree import scan
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
before = peak()
found = Discovery(sys.argv[1], {}).all(scan(sys.argv[1])[0])
print(peak() - before, len(found.unread_rules))
"""


def test_equal_ignore_files_count_once(tmp_path: Path) -> None:
    for number in range(30):
        write_files(tmp_path / f"d{number}", {".gitignore": alternating(0, 1_000), "n0x0": ""})
    found = Discovery(str(tmp_path), {}).all(scan(str(tmp_path))[0])
    assert (found.unread_rules, found.ignored) == ([], 30)


def test_too_long_an_ignore_file_holds_for_nothing(tmp_path: Path) -> None:
    texts = {
        "many/.gitignore": "*.py\n" * 5_001,
        "long/.gitignore": "*.py\n" + "#" * (256 << 10),
        "good/.gitignore": "*.py\n" * 4_000,
    }
    write_files(tmp_path, texts | {f"{folder}/x.py": "" for folder in ("many", "long", "good")})
    discovery = Discovery(str(tmp_path), {})
    tree, _ = scan(str(tmp_path))
    for _ in range(2):
        found = discovery.all(tree)
        assert found.unread_rules == ["long/.gitignore", "many/.gitignore"]
        assert found.ignored == 1


def test_a_file_of_wide_patterns_within_the_bounds_holds(tmp_path: Path) -> None:
    wide = "".join(f"{number:04}{'?*' * 28}\n" for number in range(4_000))
    write_files(tmp_path, {".gitignore": wide, "3999" + "a" * 60: "", "b": ""})
    found = Discovery(str(tmp_path), {}).all(scan(str(tmp_path))[0])
    assert (found.ignored, set(found.files)) == (1, {".gitignore", "b"})


@pytest.mark.parametrize(
    "text",
    [b"Icon\r\r\n", b"\xef\xbb\xbfdist/\n", b"a\x0bb\nIcon\x0c\n", "x\u2028dist\n".encode()],
    ids=["returns", "a mark", "other blanks", "a separator"],
)
def test_lines_end_where_git_ends_them(tmp_path: Path, text: bytes) -> None:
    root = write_files(tmp_path / "ws", {"src/Icon/Icon.py": "x", "dist/a.py": "y", "b.py": "z"})
    (tmp_path / "home").mkdir()
    git(root, "init", "-q")
    (root / ".gitignore").write_bytes(text)
    wanted = {path for path in not_ignored(root) if path.endswith(".py")}
    assert {path for path in candidates(root, tmp_path / "home") if path.endswith(".py")} == wanted


def test_the_users_own_files_may_be_links_and_come_later(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"a.py": "x", "b.py": "y"})
    home = tmp_path / "home"
    write_files(
        tmp_path / "dotfiles", {"config": f"[core]\nexcludesFile = {home}/mine\n", "mine": "a.py\n"}
    )
    home.mkdir()
    git(root, "init", "-q")
    discovery = Discovery(str(root), {"HOME": str(home)})
    tree, _ = scan(str(root))
    assert {"a.py", "b.py"} <= set(discovery.all(tree).files)
    (home / ".gitconfig").symlink_to(tmp_path / "dotfiles/config")
    (home / "mine").symlink_to(tmp_path / "dotfiles/mine")
    assert set(discovery.all(tree).files) & {"a.py", "b.py"} == {"b.py"}


def test_rules_that_turn_all_the_time_do_not_hold(tmp_path: Path) -> None:
    """Equal files count in every folder: a path is asked about by all of them."""
    text = "".join(f"x{number}\n!y{number}\n" for number in range(1_500))
    files = {"a/.gitignore": text, "a/b/.gitignore": text, "a/b/x1": "", "a/x1": "", "a/b/c.py": ""}
    root = write_files(tmp_path / "ws", files)
    tree, _ = scan(str(root))
    found = Discovery(str(root), {}).all(tree)
    assert found.unread_rules == ["a/b/.gitignore"]
    assert "a/b/c.py" in found.files and "a/x1" not in found.files
