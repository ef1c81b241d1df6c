"""``check`` over the wire, with real language servers: what is wrong, and what an edit changed."""

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Workspace
from tests.support.program import run
from tests.support.stdio import StdioServer

Start = Callable[..., StdioServer]

SHOP = {
    "shop/__init__.py": "",
    "shop/cart.py": """
        class Cart:
            def add(self, item: str) -> None:
                self.items = [item]
        """,
    "shop/main.py": """
        from shop.cart import Cart


        def main() -> None:
            cart = Cart()
            cart.add()


        TOTAL: int = "none"
        """,
    "web/total.ts": """
        export class Total {
          sum(items: number[]): string {
            return items.length;
          }
        }
        """,
    "web/tsconfig.json": '{"compilerOptions": {"strict": true}}',
}
MISSING = (
    "shop/main.py:6  error  missing-argument: No argument provided for required parameter `item` "
    "of bound method `Cart.add`  in main"
)
TOTAL = (
    'shop/main.py:9  error  invalid-assignment: Object of type `Literal["none"]` is not '
    "assignable to `int`"
)
OTHER = (
    "shop/main.py:8  error  invalid-argument-type: Argument to bound method `Cart.add` is "
    "incorrect: Expected `str`, found `Literal[1]`  in main"
)
NUMBER = (
    "web/total.ts:3  error  2322: Type 'number' is not assignable to type 'string'.  in Total.sum"
)


def ask(server: StdioServer, **arguments: Any) -> str:
    result = server.call("check", arguments)["result"]
    assert not result["isError"], result
    (content,) = result["content"]
    text: str = content["text"]
    return text


def refused(server: StdioServer, **arguments: Any) -> str:
    result = server.call("check", arguments)["result"]
    assert result["isError"]
    text: str = result["content"][0]["text"]
    return text


def baseline(text: str) -> str:
    found = re.search(r"; baseline ([a-z2-7]{6})$", text.partition("\n")[0])
    assert found is not None, text
    return found[1]


def opened(stdio: Start, root: Path) -> StdioServer:
    server = stdio(root, "--tools", "code")
    server.initialize()
    return server


@pytest.mark.usefixtures("installed")
def test_errors_of_every_language_come_with_line_and_symbol(
    stdio: Start, workspace: Workspace
) -> None:
    server = opened(stdio, workspace(SHOP))
    text = ask(server)
    assert text.splitlines() == [
        f"3 errors in 2 files; baseline {baseline(text)}",
        MISSING,
        TOTAL,
        NUMBER,
    ]
    assert ask(server) == text
    assert ask(server, **{"in": ["web"]}).splitlines()[1:] == [NUMBER]
    only = ask(server, **{"in": ["shop/cart.py"], "severity": "error"})
    assert only.startswith("no errors; baseline ")
    assert ask(server, **{"in": ["shop/cart.py"]}).startswith("no errors or warnings; baseline ")


def test_errors_come_before_warnings_and_every_count_is_exact(
    stdio: Start, workspace: Workspace
) -> None:
    files = {f"m{number}.py": "import os\nos.nothing\n" for number in range(30)}
    files["late.py"] = "x: int = 'a'\n"
    files["ty.toml"] = '[rules]\nmissing-attribute = "warn"\n'
    server = opened(stdio, workspace(files))
    first = ask(server, budget=200)
    assert first.startswith("1 error, 30 warnings in 31 files; baseline ")
    assert first.splitlines()[1].startswith("late.py:1  error  ")
    seen = first.splitlines()[1:-1]
    page = first
    while (
        more := re.fullmatch(r"more: page=(\d+-[a-z2-7]{6})", page.splitlines()[-1])
    ) is not None:
        page = ask(server, budget=200, page=more[1])
        lines = page.splitlines()
        assert lines[0] == first.splitlines()[0]
        seen += [line for line in lines[1:] if not line.startswith("more: ")]
    assert seen == ask(server, budget=60_000).splitlines()[1:]
    assert len(seen) == 31
    hidden = ask(server, severity="error")
    assert hidden.startswith("1 error in 1 file; 30 warnings not listed; baseline ")


def test_only_what_an_edit_changed_is_new_or_fixed(stdio: Start, workspace: Workspace) -> None:
    root = workspace({path: text for path, text in SHOP.items() if path.startswith("shop")})
    main = root / "shop/main.py"
    server = opened(stdio, root)
    first = baseline(ask(server))
    assert ask(server, since=first) == f"0 new, 0 fixed; baseline {first}"

    main.write_text("# moved\n# down\n" + main.read_text("utf-8"), "utf-8")
    assert ask(server, since=first) == f"0 new, 0 fixed; baseline {first}"

    main.write_text(main.read_text("utf-8").replace("cart.add()", "cart.add(1)"), "utf-8")
    text = ask(server, since=first)
    assert text.splitlines() == [
        f"1 new, 1 fixed; baseline {baseline(text)}",
        OTHER,
        "fixed",
        MISSING.replace(":6  ", "  "),
    ]
    assert ask(server, since=baseline(text)) == f"0 new, 0 fixed; baseline {baseline(text)}"


def test_a_baseline_holds_for_later_commands_and_is_private(
    stdio: Start, workspace: Workspace, home: Path
) -> None:
    root = workspace({path: text for path, text in SHOP.items() if path.startswith("shop")})
    before = sorted(root.rglob("*"))
    name = baseline(ask(opened(stdio, root)))
    done = run(home, "check", "--since", name, "--root", root)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"0 new, 0 fixed; baseline {name}\n"
    (kept,) = (home / ".cache/sightline/baselines").rglob("*.baseline")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert sorted(root.rglob("*")) == before


def test_what_cannot_be_compared_is_refused_or_said(stdio: Start, workspace: Workspace) -> None:
    root = workspace({path: text for path, text in SHOP.items() if path.startswith("shop")})
    server = opened(stdio, root)
    whole, part = baseline(ask(server)), baseline(ask(server, **{"in": ["shop/main.py"]}))
    said = refused(server, since="aaaaaa")
    assert said.startswith("no baseline 'aaaaaa' is kept for this project")
    assert part in said
    assert "pass the same in, or check without since" in refused(server, since=part)
    assert ask(server, since=whole, **{"in": ["shop/cart.py"]}).startswith("0 new, 0 fixed; ")


def test_a_language_without_a_server_is_named_and_not_compared(
    stdio: Start, workspace: Workspace, installed: Path
) -> None:
    root = workspace(SHOP | {"tool.lua": "local x = 1\n"})
    before = opened(stdio, root)
    text = ask(before)
    assert text.splitlines()[1] == "Not checked: Lua."
    assert NUMBER in text
    before.stop()
    (installed / ".local/share/sightline/servers").unlink()

    after = opened(stdio, root)
    text = ask(after, since=baseline(text))
    assert text.splitlines() == [
        f"0 new, 0 fixed; baseline {baseline(text)}",
        "Not compared, because they were not checked both times: TypeScript.",
        "Not checked: JSON, Lua, TypeScript.",
    ]


def test_the_command_exits_1_where_there_are_errors(home: Path, workspace: Workspace) -> None:
    root = workspace({path: text for path, text in SHOP.items() if path.startswith("shop")})
    (root / ".git").mkdir()  # where the project begins
    done = run(home, "check", cwd=root / "shop")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[1:] == [MISSING, TOTAL]
    assert run(home, "check", "cart.py", cwd=root / "shop").returncode == 0
    data = json.loads(run(home, "check", "--json", "main.py", cwd=root / "shop").stdout)
    assert [each["line"] for each in data["diagnostics"]] == [6, 9]
    assert data["diagnostics"][0]["enclosing"] == "main"
    outside = run(home, "check", home, "--root", root)
    assert (outside.returncode, outside.stdout) == (3, "")
    assert "outside" in outside.stderr
