"""Lines, columns, cuts, and paths that must not be shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.texts import (
    cut_code_points,
    cut_utf8,
    line_length_utf16,
    line_text,
    redact_paths,
)
from sightline.contract.uris import is_under, normalise

ROOT = "/srv/ws"
TOP = {"srv", "home", "etc", "tmp"}

texts = st.text(st.characters(codec="utf-8"))


def redact(text: str) -> str:
    def allowed(path: str) -> bool:
        return path.startswith("/") and is_under(normalise(path), ROOT)

    return redact_paths(text, allowed, lambda path: path.split("/", 2)[1] in TOP)


@pytest.mark.requirement("GW-3.3-positions")
@given(texts)
def test_columns_count_utf16_units(line: str) -> None:
    assert line_length_utf16(line) == len(line.encode("utf-16-le")) // 2


@given(st.text("ab\r\n"))
def test_lines_end_in_any_of_three_ways(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [line_text(text, number) for number in range(len(lines))] == lines
    assert line_text(text, len(lines)) is None


def test_other_characters_end_no_line() -> None:
    assert line_text("a\u2028b\x0bc\x85d", 0) == "a\u2028b\x0bc\x85d"


@given(texts, st.integers(0, 40))
def test_cuts_by_code_points(text: str, limit: int) -> None:
    assert cut_code_points(text, limit) == (text[:limit], len(text) > limit)


@given(texts, st.integers(-3, 60))
def test_cuts_by_bytes_are_the_longest_prefix(text: str, limit: int) -> None:
    cut = cut_utf8(text, limit)
    assert text.startswith(cut)
    assert len(cut.encode()) <= max(limit, 0)
    following = text[len(cut) : len(cut) + 1]
    assert not following or len((cut + following).encode()) > limit


@pytest.mark.requirement("GW-3.1-summary", "GW-6.3-nothing-leaks")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see /home/u/secret.py here", "see secret.py here"),
        ("see /home/u/secret.py:3:4", "see secret.py:3:4"),
        ("'/home/u/secret.py'", "'secret.py'"),
        ("(/home/u/secret.py)", "(secret.py)"),
        ("cwd=/home/u/secret", "cwd=secret"),
        ("error:/home/u/secret", "error:secret"),
        ("//home/u/secret", "secret"),
        ("/home//u///secret", "secret"),
        ("/srv/ws/../other/secret", "secret"),
        ("/srv/ws-other/secret", "secret"),
        ("/home/u/", "u"),
        ("file:///home/u/secret.py", "secret.py"),
        ("file:/home/u/secret.py", "secret.py"),
        ("FILE:///home/u/secret.py", "secret.py"),
        ("file://host/home/u/secret.py", "secret.py"),
        ("[a](file:///home/u/secret.py#L3)", "[a](secret.py#L3)"),
        ("file:///srv/ws/%2e%2e/home/u/secret.py", "secret.py"),
        ("file:///srv/ws%2F..%2Fhome%2Fu%2Fsecret.py", "secret.py"),
        ("file:///c%3A/Users/u/secret.py", "secret.py"),
        ("file:///C:/Users/u/secret.py", "secret.py"),
        ("file:///c%3A%5CUsers%5Cu%5Csecret.py#L3", "secret.py#L3"),
        ("file:///C:\\Users\\u\\secret.py", "secret.py"),
    ],
)
def test_paths_outside_become_names(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "/srv/ws/a.py",
        "at /srv/ws/a.py:3",
        "file:///srv/ws/a.py#L3",
        "file:///srv/%77s/a%20b.py#L3",
        "GET /api/users/1",
        "https://example.com/home/u/page",
        "http://home/u/page",
        "a/home/b",
        "./home/b and ../home/b and ~/home/b",
        "1/2 and a // comment",
        "r'\\home'",
        "/",
        "",
    ],
)
def test_everything_else_stays(text: str) -> None:
    assert redact(text) == text


names = st.text("abcxyz_.-", min_size=1, max_size=6).filter(lambda name: name.strip("."))


@given(
    st.sampled_from(["", " ", "see ", "(", "'", '"', "`", "x=", "x: ", "[", "<", ","]),
    st.sampled_from(["/", "//", "file:///", "file:/", "File:///"]),
    st.lists(names, min_size=1, max_size=4),
    st.sampled_from(["", " ", ":3", ")", "'", "/", ", then", "\n"]),
)
def test_no_folder_outside_survives(before: str, start: str, parts: list[str], after: str) -> None:
    path = "home/private-folder/" + "/".join(parts)
    assert "private-folder" not in redact(f"{before}{start}{path}{after}")


@given(
    st.sampled_from(["", "srv/ws/", "srv/ws/%2e%2E/", "c%3A/", "C:/", "c:%5C"]),
    st.lists(names, min_size=1, max_size=4),
    st.sampled_from(["/", "%2F", "%2f", "%5C", "\\"]),
)
def test_no_folder_outside_survives_in_a_link(start: str, parts: list[str], between: str) -> None:
    path = between.join(["..", "..", "home", "private-folder", *parts])
    assert "private-folder" not in redact(f"[x](file:///{start}{path})")


@given(texts)
def test_redaction_settles(text: str) -> None:
    once = redact(text)
    assert len(once) <= len(text)
    assert "/home/" not in once or "/home/" in text
