"""Uses in the arguments of macros that do not use them: clangd finds none, so they are counted."""

from pathlib import Path

import pytest

from sightline.lsp.coverage import other_builds
from tests.languages.samples import only
from tests.languages.test_other_builds import said, uses
from tests.support.engine import engine
from tests.support.files import write_files

DROPPED = "in macros"
PLAIN = """\
#define check(c) ((void)0)
#define pick(a, b) (a)
#define LIMIT 10
enum kind { K_ONE, K_TWO };
struct box { int width; };
static int helper(int x) { return x; }
int run(struct box *b, enum kind k) {
  check(b->width < LIMIT);
  check(k == K_TWO && helper(3));
  return pick(1, helper(b->width));
}
"""
#: What is dropped in the end is dropped by the macros around it, too.
THROUGH = """\
#pragma once
int helper(int x);
#ifdef DEBUG
#define inner(c) report(c)
#else
#define inner(c) ((void)0)
#endif
#define outer(l, e) ((void)(l), inner((e) && "text"))
#define other inner
#define text(x) #x
"""


@pytest.mark.parametrize(
    ("files", "file", "name", "found", "note"),
    [
        ({"m.c": PLAIN}, "m.c", "helper", {5}, said(2, "m.c", DROPPED, "helper")),
        ({"m.c": PLAIN}, "m.c", "LIMIT", {2}, said(1, "m.c", DROPPED, "LIMIT")),
        ({"m.c": PLAIN}, "m.c", "K_TWO", {3}, said(1, "m.c", DROPPED, "K_TWO")),
        ({"m.c": PLAIN}, "m.c", "width", {4}, said(2, "m.c", DROPPED, "width")),
        # What is used of an argument is found.
        ({"m.c": PLAIN.replace("((void)0)", "((void)(c))")}, "m.c", "LIMIT", {2, 7}, ""),
        (
            {
                "a.h": THROUGH,
                "a.c": '#include "a.h"\nint helper(int x) { return x; }\n'
                "void use(int n) {\n  outer(helper(n), n);\n  outer(n,\n    helper(n));\n"
                "  other(helper(n));\n  text(helper(n));\n}\n",
            },
            "a.c",
            "helper",
            {1, 3},
            said(3, "a.c", DROPPED, "helper"),
        ),
        # A macro of the system: what is found is not counted, whether the build drops it or not.
        (
            {
                "a.c": "#define NDEBUG\n#include <assert.h>\nstatic int helper(int x) { return x; }"
                "\nvoid use(int n) {\n  assert(helper(n) /* b) */ > ')');\n}\n"
            },
            "a.c",
            "helper",
            {2},
            said(1, "a.c", DROPPED, "helper"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 10 else "",
)
async def test_arguments_that_a_macro_drops(
    tmp_path: Path, files: dict[str, str], file: str, name: str, found: set[int], note: str
) -> None:
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        places, told = await uses(running, files, file, name)
        own = {
            int(line)
            for path, _, line in (place.partition(":") for place in places)
            if path == file
        }
        assert (own, told) == (found, note)


@pytest.mark.parametrize("held", [other_builds._HELD, 0])
async def test_what_a_macro_drops_follows_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    """A header that changes what it defines changes what is left out of every source, also where
    these are too much to be held until then.
    """
    monkeypatch.setattr(other_builds, "_HELD", held)
    header = "#pragma once\nint helper(int x);\n#define check(c) (void)(c)\n"
    source = '#include "a.h"\nint helper(int x) { return x; }\nvoid f(void) { check(helper(1)); }\n'
    use = '#include "a.h"\nvoid g(void) {\n  check(helper(1));\n}\n'
    files = {"a.h": header, "a.c": source, "use.c": use}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        places, told = await uses(running, files, "a.c", "helper")
        assert (places, told) == ({"a.h:1", "a.c:1", "a.c:2", "use.c:2"}, "")
        write_files(root, {"a.h": header.replace("(void)(c)", "(void)0")})
        places, told = await uses(running, files, "a.c", "helper")
        assert (places, told) == ({"a.h:1", "a.c:1"}, said(2, "a.c, use.c", DROPPED, "helper"))
        write_files(root, {"use.c": use.replace("check(helper(1))", "helper(1)")})
        places, told = await uses(running, files, "a.c", "helper")
        assert (places, told) == ({"a.h:1", "a.c:1", "use.c:2"}, said(1, "a.c", DROPPED, "helper"))
        write_files(root, {"a.h": header})
        places, told = await uses(running, files, "a.c", "helper")
        assert (places, told) == ({"a.h:1", "a.c:1", "a.c:2", "use.c:2"}, "")
