"""Programs of rustup that stand for one of a toolchain, whether or not a toolchain has it.

They lie on the PATH from the first day and end at once where the component is not installed.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress

__all__ = ["is_empty_proxy"]

_RUSTUP = "rustup"


def is_empty_proxy(program: str, environment: Mapping[str, str]) -> bool:
    """Whether a program only stands for another one that no toolchain of the user has."""
    folder, name = os.path.split(program)
    beside = os.path.join(folder, _RUSTUP)
    try:
        stands_for = name != _RUSTUP and os.path.samefile(program, beside)
    except OSError:
        return False
    return stands_for and not any(
        os.path.isfile(os.path.join(toolchain, "bin", name))
        for toolchain in _toolchains(environment)
    )


def _toolchains(environment: Mapping[str, str]) -> Iterator[str]:
    home = environment.get("RUSTUP_HOME") or os.path.join(environment.get("HOME", ""), ".rustup")
    folder = os.path.join(home, "toolchains")
    with suppress(OSError):
        yield from (os.path.join(folder, name) for name in os.listdir(folder))
    chosen = environment.get("RUSTUP_TOOLCHAIN", "")
    if os.path.isabs(chosen):
        yield chosen
