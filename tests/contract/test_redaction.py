"""Paths that must not be shown, in texts that somebody else wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.redaction import redact_paths
from sightline.contract.uris import is_under, normalise

ROOT = "/srv/ws"
TOP = {"srv", "home", "etc", "tmp", "usr"}
KNOWN = ["/home/J. Smith, Inc."]

texts = st.text(st.characters(codec="utf-8"))


def redact(text: str) -> str:
    def allowed(path: str) -> bool:
        return path.startswith("/") and is_under(normalise(path), ROOT)

    return redact_paths(text, allowed, lambda path: path.split("/", 2)[1] in TOP, KNOWN)


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
        ("3. /tmp/x/out side/secret dir/venv/lib (site)", "3. lib (site)"),
        ("-I/usr/include/foo.h", "-Ifoo.h"),
        (
            "cc -isystem/usr/include --sysroot=/usr/lib -c a.c",
            "cc -isysteminclude --sysroot=lib -c a.c",
        ),
        ("/etc/a,b/secret", "secret"),
        ("/etc/(paren)/z", "z"),
        ("(see /etc/(paren)/z)", "(see z)"),
        ("(/etc/(paren)/z)/y", "(z)/y"),
        ("[a](</home/u/a b/secret.py>)", "[a](<secret.py>)"),
        ("'/etc/it's, so/secret'", "'secret'"),
        ("'/etc/a, b/c','/etc/d'", "'c','d'"),
        ("/home/u/a (old)/home/v/secret", "secret"),
        ("PATH=/usr/bin:/srv/ws/bin:/home/u/bin", "PATH=bin:/srv/ws/bin:bin"),
        ("a=/usr/x=/home/u/secret", "a=x=secret"),
        ("in /home/J. Smith, Inc./lib, then src/a.py", "in lib, then src/a.py"),
        ("/srv/ws copy/secret", "secret"),
        ("/srv/ws/a)/home/u/secret", "/srv/ws/a)secret"),
        ("/home/a)/usr/../../srv/ws/x)/home/u/secret", "secret"),
        ("Reads /etc/hosts, then src/a.py", "Reads hosts, then src/a.py"),
        ("Reads /etc/hosts. Then src/a.py", "Reads hosts. Then src/a.py"),
        ("Reads /etc/hosts for /api/users", "Reads hosts for /api/users"),
        ("/etc/hosts as in https://example.com/a/b", "hosts as in https://example.com/a/b"),
        ("/etc/hosts and ../a/b", "hosts and ../a/b"),
        ("file:///home/u/a (b)/secret.py#L3", "secret.py#L3"),
        ("[a](file:///home/u/a (b)/secret.py#L3) of a/b", "[a](secret.py#L3) of a/b"),
        ("[a](file:///home/u/x.py)/[b](file:///home/u/y.py)", "[a](x.py)/[b](y.py)"),
    ],
)
def test_paths_outside_become_names(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "/srv/ws/a.py",
        "at /srv/ws/a.py:3",
        "/srv/ws/a b/c (d)/e.py of src/f.py",
        "(/srv/ws)",
        "'/srv/ws' and '/api/x'",
        "a -I/api/x and a-I/usr/x",
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
#: Single blanks, pairs of brackets, and punctuation that no blank follows are part of a name.
odd_names = st.from_regex(
    r"([a-c,;&+!@#-]{0,2}[a-c]|\([a-c]( [a-c]){0,2}\)|\[[a-c]\]|[a-c]['`\")\]][a-c])"
    r"( ?(\([a-c]( [a-c]){0,2}\)|[,;:&+!(-]?[a-c])){0,4}",
    fullmatch=True,
)
BEFORE = ["", " ", "see ", "(", "'", '"', "`", "x=", "x: ", "[", "<", ",", "-I", "{", "|"]
AFTER = ["", " ", ":3", ")", "'", "/", ", then", "\n", ". a/b", " /api/x", " (x)"]


@given(
    st.sampled_from(BEFORE),
    st.sampled_from(["/", "//", "file:///", "file:/", "File:///"]),
    st.lists(odd_names, max_size=2),
    st.lists(names | odd_names, min_size=1, max_size=4),
    st.sampled_from(AFTER),
)
def test_no_folder_outside_survives(
    before: str, start: str, above: list[str], below: list[str], after: str
) -> None:
    path = "/".join(["home", *above, "private-folder", *below])
    assert "private-folder" not in redact(f"{before}{start}{path}{after}")


@given(
    st.sampled_from(BEFORE),
    st.lists(names | odd_names, min_size=1, max_size=4),
    st.sampled_from(AFTER),
)
def test_paths_inside_stay(before: str, parts: list[str], after: str) -> None:
    text = "/".join([f"{before}/srv/ws", *parts]) + after
    assert redact(text) == text


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


HOSTILE = ["'/etc", "/etc)", ")/etc", "/etc ", "/etc a ", "-a", "/", "file:/", "file:/(", "(/etc/"]
HOSTILE += ["a b/", "/srv/ws)", "/srv/ws/(", ". ", ":", "'", "/etc/..", "%2f", "(", " -a", " -a/"]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("beginning", ["", "/etc/", "'/etc/", "(/etc/", "/srv/ws/", "file:/"])
def test_no_text_takes_long(beginning: str, piece: str) -> None:
    """One that is looked through again from each of its places would take hours."""
    redact(beginning + piece * ((1 << 18) // len(piece)))
