"""Which files of Go a build leaves out on this machine, by their names and constraints.

The server reads what a build would read. Uses in a file for another system, or behind a tag such as
``integration``, are not found, so it is said how many files there are.

>>> target = Target("linux", "amd64", cgo=True)
>>> [target.leaves_out(name) for name in ("a_linux.go", "a_windows_test.go", "linux.go")]
[False, True, False]
>>> target.leaves_out("a.go", "(unix && !cgo) || integration")
True
"""

import os
import re
import sys
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Target", "constraint", "target_of"]

_SYSTEMS = frozenset(
    """
    aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris
    wasip1 windows zos
    """.split()
)
_UNIX = _SYSTEMS - {"js", "nacl", "plan9", "wasip1", "windows", "zos"}
_MACHINES = frozenset(
    """
    386 amd64 amd64p32 arm arm64 arm64be armbe loong64 mips mips64 mips64le mips64p32 mips64p32le
    mipsle ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm
    """.split()
)
#: Systems that are also taken for another one.
_ALSO = {"android": "linux", "illumos": "solaris", "ios": "darwin"}
_HERE = {"win32": "windows"}
_NAMES = {"x86_64": "amd64", "aarch64": "arm64", "i386": "386", "i686": "386"}
_CONSTRAINT = re.compile(r"^//go:build[ \t]+([^\n]+)$", re.MULTILINE)
_PACKAGE = re.compile(r"^package\b", re.MULTILINE)
_TOKEN = re.compile(r"\(|\)|&&|\|\||!|[\w.]+")
_VERSION = re.compile(r"go1(\.\d+)?")


def constraint(text: str) -> str:
    """The constraint of a source, which stands above its package; nothing if there is none."""
    package = _PACKAGE.search(text)
    found = _CONSTRAINT.search(text, 0, package.start() if package else len(text))
    return found[1].strip() if found else ""


class Target(NamedTuple):
    """What is built for."""

    system: str
    machine: str
    cgo: bool

    def leaves_out(self, name: str, constraint: str = "") -> bool:
        """Whether a file is not built. A constraint that cannot be read keeps nothing out."""
        return not self._is_for(name.removesuffix(".go").removesuffix("_test")) or (
            bool(constraint) and not self._holds(constraint)
        )

    def _is_for(self, stem: str) -> bool:
        _, *parts = stem.split("_")
        if parts and parts[-1] in _MACHINES and parts.pop() != self.machine:
            return False
        return not parts or parts[-1] not in _SYSTEMS or self._is_set(parts[-1])

    def _is_set(self, tag: str) -> bool:
        if tag in (self.system, self.machine, "gc", _ALSO.get(self.system)):
            return True
        if tag == "unix":
            return self.system in _UNIX
        return self.cgo if tag == "cgo" else _VERSION.fullmatch(tag) is not None

    def _holds(self, constraint: str) -> bool:
        words = _TOKEN.findall(constraint)[::-1]

        def any_of() -> bool:
            value = all_of()
            while words and words[-1] == "||":
                words.pop()
                value = all_of() or value
            return value

        def all_of() -> bool:
            value = one()
            while words and words[-1] == "&&":
                words.pop()
                value = one() and value
            return value

        def one() -> bool:
            word = words.pop()
            if word == "!":
                return not one()
            if word != "(":
                return self._is_set(word)
            value = any_of()
            words.pop()
            return value

        try:
            return any_of()
        except (IndexError, RecursionError):  # it ends too early, or never
            return True


def target_of(variables: Mapping[str, str]) -> Target:
    """What is built for here, unless the user's environment variables say otherwise."""
    machine = os.uname().machine.lower() if hasattr(os, "uname") else "amd64"
    return Target(
        variables.get("GOOS") or _HERE.get(sys.platform, sys.platform),
        variables.get("GOARCH") or _NAMES.get(machine, machine),
        variables.get("CGO_ENABLED", "1") != "0",
    )
