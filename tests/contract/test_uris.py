"""File URIs by text: strict in, canonical out, and back."""

import os
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sightline.contract.failures import UriInvalid
from sightline.contract.uris import is_under, normalise, path_of, uri_of
from tests.vectors import load

VECTORS = load("gateway")

components = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8)
raw_components = st.binary(min_size=1, max_size=6).filter(lambda raw: not set(raw) & {0, 0x2F})
paths = st.lists(components.filter(lambda name: name not in (".", "..")), max_size=5).map(
    lambda names: "/" + "/".join(names)
)


@pytest.mark.requirement("GW-3.2-canonical-uris")
@pytest.mark.parametrize("row", VECTORS["canonical_uri_posix"])
def test_known_uris(row: dict[str, str]) -> None:
    assert uri_of(row["realpath"]) == row["uri"]


@given(paths.filter(lambda path: path[2:3] != ":"))
def test_a_canonical_uri_reads_back(path: str) -> None:
    assert path_of(uri_of(path)) == path


@given(st.lists(raw_components.filter(lambda raw: raw not in (b".", b"..")), min_size=1))
def test_undecodable_names_survive(names: list[bytes]) -> None:
    path = "/" + "/".join(map(os.fsdecode, names))
    assert uri_of(path).isascii()
    if path[2:3] != ":":
        assert path_of(uri_of(path)) == path


@given(paths)
def test_only_unreserved_characters_stay(path: str) -> None:
    allowed = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/%")
    assert set(uri_of(path).removeprefix("file://")) <= allowed


@given(paths)
def test_writing_is_idempotent(path: str) -> None:
    assert uri_of(normalise(path)) == uri_of(path) == uri_of(path + "/")


def test_a_drive_letter_is_lower_case() -> None:
    assert uri_of("/C:/x") == "file:///c%3A/x"


@pytest.mark.parametrize(
    "uri",
    [
        "file:///c%3A/src/a.py",
        "file:///C%3a/src/a.py",
        "file:///c:/src/a.py",
        "file:///C:/src/a.py",
    ],
)
def test_a_drive_has_one_spelling(uri: str) -> None:
    """As editors on Windows write it: the letter small, the colon escaped."""
    assert uri_of(path_of(uri)) == "file:///c%3A/src/a.py"


def test_a_backslash_parts_nothing() -> None:
    """It is a character of a name, as everywhere but on Windows; it never becomes a step."""
    assert (
        path_of("file:///ws/..\\..\\etc")
        == path_of("file:///ws/..%5C..%5Cetc")
        == "/ws/..\\..\\etc"
    )
    assert uri_of("/ws/a\\b.py") == "file:///ws/a%5Cb.py"


@pytest.mark.parametrize(
    "uri",
    [
        "C:\\src\\a.py",
        "c:/src/a.py",
        "\\\\host\\share\\a.py",
        "file:C:/src/a.py",
        "file:\\\\c:\\a.py",
        "file://c:/src/a.py",
        "file://c%3A/src/a.py",
        "file://host/share/a.py",
        "file:////host/a.py",
    ],
)
def test_a_windows_path_that_is_no_uri_is_refused_with_advice(uri: str) -> None:
    with pytest.raises(UriInvalid) as refused:
        path_of(uri)
    assert "file:///folder/module.py" in refused.value.advice


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b.py", "/a/b.py"),
        ("file:/a/b.py", "/a/b.py"),
        ("file:///a/./b/../c", "/a/c"),
        ("file:///a/%2e%2e/b", "/b"),
        ("file:///a%2Fb", "/a/b"),
        ("file:///../../x", "/x"),
        ("file:///a//b", "/a/b"),
        ("file:///", "/"),
        ("file:///a/", "/a/"),
        ("file:///ü", "/ü"),
        ("file:///a%0Ab", "/a\nb"),
    ],
)
def test_what_is_read(uri: str, path: str) -> None:
    assert path_of(uri) == path


@pytest.mark.requirement("GW-1.2-file-uris")
@pytest.mark.parametrize(
    "uri",
    [
        "",
        "x",
        "/a/b.py",
        "http://a/b",
        "https:///a",
        "FILE:///a",
        "File:///a",
        " file:///a",
        "file",
        "file:",
        "file://",
        "file:a",
        "file://host/a",
        "file://localhost/a",
        "file://127.0.0.1/a",
        "file:////a",
        "file://///a",
        "file:///a?x",
        "file:///a#x",
        "file:///a%",
        "file:///a%z1",
        "file:///a%1",
        "file:///a%00b",
        "file:///a\0b",
        "file:///a\nb",
        "untitled:x",
        "vscode-remote://h/a",
    ],
)
def test_what_is_refused(uri: str) -> None:
    with pytest.raises(UriInvalid) as refused:
        path_of(uri)
    assert uri not in refused.value.advice or not uri or uri in ("x", "file", "file:", "file://")


@pytest.mark.requirement("GW-1.2-file-uris")
@given(st.from_regex(r"[A-Za-z][A-Za-z0-9+.-]{0,8}", fullmatch=True) | st.just("http"))
def test_no_other_scheme_is_a_file(scheme: str) -> None:
    assume(scheme != "file")
    for path in ("/a", "///a"):
        with pytest.raises(UriInvalid):
            path_of(f"{scheme}:{path}")


@given(st.text(max_size=40) | st.text(max_size=30).map("file:///".__add__))
def test_no_other_failure(uri: str) -> None:
    try:
        path = path_of(uri)
    except UriInvalid:
        return
    assert path.startswith("/") and "\0" not in path
    assert "/../" not in path + "/" and "//" not in path


@pytest.mark.requirement("GW-4.1-real-roots")
@pytest.mark.parametrize("row", VECTORS["is_realpath_allowed"])
def test_known_containment(row: dict[str, Any]) -> None:
    candidate = normalise(row["candidate"])
    assert any(is_under(candidate, root) for root in row["roots"]) == row["allowed"]


def test_a_neighbour_with_the_same_start_is_not_inside() -> None:
    assert not is_under("/ws-secret/x", "/ws")
    assert is_under("/ws/x", "/ws") and is_under("/ws", "/ws") and is_under("/x", "/")
