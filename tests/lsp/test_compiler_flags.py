"""Which flags of a compiler are kept, and which configurations are left to clangd."""

import re
import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.c.clangd_configuration import is_plain
from sightline.lsp.c.compiler_flags import Flags, split

#: As builds of real projects say them, and what is left out of each.
LINES = {
    "cmake": (
        (
            "/usr/bin/c++ -DCURL_STATICLIB -I/ws/lib -I../include -isystem /usr/include/x -Wall "
            "-Wextra -Wno-error=deprecated -O2 -g -DNDEBUG -std=gnu++17 -fPIC -fvisibility=hidden "
            "-Winvalid-pch -MD -MT a.o -MF a.o.d -o a.o -c a.cpp"
        ),
        (
            "c++ -DCURL_STATICLIB -I/ws/lib -I/ws/include -isystem/usr/include/x -Wall -Wextra "
            "-Wno-error=deprecated -O2 -DNDEBUG -std=gnu++17 -fPIC -fvisibility=hidden "
            "-Winvalid-pch"
        ),
        "",
    ),
    "autotools": (
        (
            'ccache gcc -DHAVE_CONFIG_H -DVERSION="a b" -I. -U_FORTIFY_SOURCE -pthread '
            "-fno-strict-aliasing -ffunction-sections -pipe -Wl,-z,now -save-temps=obj -lm a.c"
        ),
        (
            "gcc -DHAVE_CONFIG_H '-DVERSION=a b' -I/ws/build -U_FORTIFY_SOURCE -pthread "
            "-fno-strict-aliasing"
        ),
        "",
    ),
    "a cross compiler": (
        (
            "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 "
            "--specs=nano.specs --sysroot /opt/arm -include ../config.h a.c"
        ),
        (
            "gcc --target=arm-none-eabi -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 "
            "--sysroot=/opt/arm -include/ws/config.h"
        ),
        "--specs=nano.specs",
    ),
    "apple": (
        "clang -arch arm64 -isysroot /Applications/X/SDK -mmacosx-version-min=11.0 -F /ws/f a.c",
        "clang -arch arm64 -isysroot/Applications/X/SDK -mmacosx-version-min=11.0 -F/ws/f",
        "",
    ),
    "places outside": (
        "cc -I/home/other -I ../../x -include /etc/passwd -isystem/root -imacros /x --sysroot=/x",
        "cc",
        "-I -I/home/other -imacros -include -isystem/root --sysroot=",
    ),
    "everything that acts": (
        (
            "/ws/evil -fplugin=./a.so -Xclang -load -Xclang ./a.so -B. -MJ /x @r --config=c "
            "-fmodules -fmodules-cache-path=. -march=native --cuda-path=. -x cuda -x hip "
            "--target=nvptx64 -wrapper ./x -no-integrated-cpp -Xpreprocessor -MD -Wp,-MD,x "
            "-specs=x -ftime-trace=x -resource-dir x --driver-mode=cl -ivfsoverlay x -specs=y"
        ),
        "cc",
        (
            "-fplugin=./a.so -Xclang -B. @r --config=c -fmodules -fmodules-cache-path=. "
            "-march=native "
            "--cuda-path=. -x --target= -wrapper -no-integrated-cpp -Xpreprocessor "
            "-Wp,-MD,x -specs=x "
            "-resource-dir --driver-mode=cl -ivfsoverlay -specs=y"
        ),
    ),
}


@pytest.mark.parametrize(("command", "kept", "unused"), LINES.values(), ids=LINES.keys())
def test_a_line_again(command: str, kept: str, unused: str) -> None:
    line = Flags(["/ws"]).rebuilt(split(command), "/ws/build")
    assert list(line.words) == split(kept)
    assert sorted(line.unused) == sorted(unused.split())


PIECES = st.sampled_from(
    "-I -D -U -x -include -isystem -target --sysroot -arch -Xclang -B -o -MJ -- = @ ./evil.sh "
    "--amdgpu-arch-tool= -mcpu= native cuda -std= -fplugin= . / .. \n \0 a".split(" ")
)
SAFE = re.compile(
    r"-[IF]/ws.*|-i(?:system|quote|dirafter|sysroot|framework)/ws.*|-(?:include|imacros)/ws.*"
    r"|--sysroot=/ws.*|-[DU][A-Za-z_].*|-arch|arm64|-std=\w+|-mcpu=(?!native).*",
)


@given(st.lists(st.lists(PIECES, min_size=1, max_size=3).map("".join), max_size=8))
def test_whatever_is_said_only_listed_words_come_out(words: list[str]) -> None:
    compiler, *kept = Flags(["/ws"]).rebuilt(words, "/ws").words
    assert re.fullmatch(r"\w+(\+\+)?", compiler)
    assert [word for word in kept if not SAFE.fullmatch(word)] == []


def test_a_link_leads_where_it_leads(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    line = Flags([str(root)]).rebuilt(["cc", "-Ilink", "-includelink/x.h", "-I."], str(root))
    assert line.words == ("cc", f"-I{root}")


PLAIN = """\
# why
If:
  PathMatch: [.*\\.h, 'src/.*']
CompileFlags:
  Add: [-std=c++20, "-DX=1", -Iinclude]
  Remove: [-W*, -fmodules-ts]
---
Diagnostics:
  Suppress:
    - unused
  UnusedIncludes: Strict  # so
Index:
  Background: Skip
"""
NOT_PLAIN = {
    "a compiler": "CompileFlags:\n  Compiler: clang\n",
    "a database": "CompileFlags:\n  CompilationDatabase: .\n",
    "an index": "Index:\n  External:\n    File: x\n",
    "a flag": "CompileFlags:\n  Add: [-MJx]\n",
    "a flag in a list": "CompileFlags:\n  Add:\n    - -B.\n",
    "a flag with a value": "CompileFlags:\n  Add: [-I, x]\n",
    "another form": "CompileFlags: {Add: [-DX]}\n",
    "a text over lines": 'Index:\n  Background: "Build\nCompileFlags:\n  Add: [-DX]\n"\n',
    "a block": "CompileFlags:\n  Add: |\n    -B.\n",
    "an escape": 'CompileFlags:\n  Add: ["\\x2dB."]\n',
    "an anchor": "Index: &a\n  Background: Build\nCompileFlags: *a\n",
    "a key in quotes": '"CompileFlags":\n  Add: [-B.]\n',
    "an indented top": "  CompileFlags:\n    Add: [-B.]\n",
    "another end of line": "# x\rCompileFlags:\r  Add: [-B.]\n",
    "a tag": "CompileFlags: !!map\n  Add: [-DX]\n",
}


def test_a_plain_configuration() -> None:
    assert is_plain(PLAIN, Flags(["/ws"]), "/ws")
    assert is_plain(PLAIN.replace("\n", "\r\n"), Flags(["/ws"]), "/ws")
    assert is_plain("", Flags([]), "/")


@pytest.mark.parametrize("text", NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_one_that_is_not_plain(text: str) -> None:
    assert not is_plain(text, Flags(["/ws"]), "/ws")


@given(st.text(st.sampled_from("ab= \t\n\"'\\\\#é")))
def test_words_are_those_of_a_shell(command: str) -> None:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    assert split(command) == words


def test_commands_with_quotations_are_split_quickly() -> None:
    """A build writes thousands, and many define a version or a name of a file."""
    command = f"cc {'-DNAME=value -Ifolder ' * 50}" + r"-DVERSION=\"1.0\" -c a.c"

    def taken(reader: Callable[[str], list[str]]) -> float:
        begun = time.process_time()
        for _ in range(500):
            assert '-DVERSION="1.0"' in reader(command)
        return time.process_time() - begun

    assert taken(split) < taken(shlex.split) / 3
