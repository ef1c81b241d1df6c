"""Which files of Go a build leaves out."""

import pytest

from sightline.lsp.go.build_constraints import Target, constraint, target_of

LINUX = Target("linux", "amd64", cgo=True)


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("a.go", False),
        ("a_test.go", False),
        ("a_linux.go", False),
        ("a_linux_amd64.go", False),
        ("a_linux_arm64.go", True),
        ("a_amd64.go", False),
        ("a_arm64_test.go", True),
        ("a_windows.go", True),
        ("a_windows_test.go", True),
        ("a_windows_amd64.go", True),
        ("windows.go", False),
        ("arm64.go", False),
        ("a_unix.go", False),
        ("a_b.go", False),
        ("a_js_wasm.go", True),
    ],
)
def test_by_name(name: str, left_out: bool) -> None:
    assert LINUX.leaves_out(name) is left_out


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        ("linux", False),
        ("!linux", True),
        ("linux && amd64", False),
        ("linux && arm64", True),
        ("windows || darwin", True),
        ("windows || linux && cgo", False),
        ("(windows || linux) && !cgo", True),
        ("!(windows || darwin)", False),
        ("unix", False),
        ("go1.21", False),
        ("!go1.21", True),
        ("ignore", True),
        ("integration && linux", True),
        ("!integration", False),
        ("gc", False),
        ("appengine || purego", True),
        ("(", False),
        ("linux &&", False),
        ("!" * 5_000 + "linux", False),
    ],
)
def test_by_constraint(words: str, left_out: bool) -> None:
    assert LINUX.leaves_out("a.go", words) is left_out


def test_a_constraint_stands_above_the_package() -> None:
    assert constraint("// why\n\n//go:build linux && cgo\n\npackage a\n") == "linux && cgo"
    assert constraint("package a\n\n//go:build linux\n") == ""
    assert constraint("//go:build linux") == "linux"


def test_others_count_as_more_than_one_system() -> None:
    android = Target("android", "arm64", cgo=False)
    assert not android.leaves_out("a_linux.go", "linux && android && !cgo")
    assert Target("windows", "amd64", cgo=True).leaves_out("a.go", "unix")


def test_the_users_variables_decide() -> None:
    variables = {"GOOS": "windows", "GOARCH": "arm64", "CGO_ENABLED": "0"}
    assert target_of(variables) == Target("windows", "arm64", cgo=False)
    assert target_of({}).cgo
