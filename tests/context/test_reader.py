"""The reader takes what the original's takes and says what it says, where it says it."""

import base64
import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.context import moments
from sightline.context.documents import read_document
from sightline.context.manifest import Entry, Manifest, read_manifest
from sightline.context.quoting import quoted
from sightline.context.reader import Reader, Refused
from tests.context.support import PATIENT, recorded

RECORDED = recorded("reader.json")

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def data_of(row: dict[str, str]) -> bytes:
    return base64.b64decode(row["base64"]) if "base64" in row else row["utf8"].encode()


@pytest.mark.requirement("CX-manifest-reading")
def test_manifests_as_recorded() -> None:
    assert len(RECORDED["manifests"]) > 200
    for row in RECORDED["manifests"]:
        try:
            read_manifest(data_of(row))
            outcome = "OK"
        except Refused as refused:
            outcome = f"ERR {refused}"
        assert outcome == row["outcome"], row


@pytest.mark.requirement("CX-manifest-reading")
def test_times_as_recorded() -> None:
    for row in RECORDED["created_at"]:
        try:
            moments.check(row["text"])
            outcome = "OK"
        except ValueError as error:
            outcome = str(error)
        assert outcome == row["outcome"], row


@pytest.mark.requirement("CX-document-reading")
def test_documents_as_recorded() -> None:
    for row in RECORDED["documents"]:
        try:
            read_document(data_of(row))
            outcome = "OK"
        except Refused:
            outcome = "refused"
        assert outcome == row["outcome"], row


@PATIENT
@given(JSON, st.sampled_from([None, 0, 2]), st.booleans())
def test_values_are_read_as_they_were_written(value: Any, indent: int | None, ascii_: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    reader = Reader(text.encode())
    assert reader.value() == value
    reader.end()


@PATIENT
@given(st.binary(max_size=200))
def test_whatever_comes_is_read_or_refused(data: bytes) -> None:
    for read in (read_manifest, read_document, lambda data: Reader(data).value()):
        with contextlib.suppress(Refused):  # and nothing else is raised
            read(data)


@pytest.mark.parametrize(("depth", "good"), [(126, True), (127, True), (128, False), (9999, False)])
def test_depth_is_bounded(depth: int, good: bool) -> None:
    text = b"[" * depth + b"]" * depth
    if good:
        Reader(text).value()
    else:
        with pytest.raises(Refused, match="recursion limit exceeded"):
            Reader(text).value()


def test_what_is_unknown_may_be_deep() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    manifest = read_manifest(
        b'{"zz":%b,"cache_version":"v","build_config":["1","sha256"],'
        b'"created_at":"1970-01-01T00:00:00Z","document_count":0,"documents":[]}' % deep
    )
    assert manifest.document_count == 0


def test_reading_can_be_stopped() -> None:
    class Enough(Exception):
        pass

    calls = iter(range(1000))

    def pause() -> None:
        if next(calls) == 500:
            raise Enough

    with pytest.raises(Enough):
        Reader(b"[" + b"0," * 10_000 + b"0]", pause).value()


def test_a_manifest_reads_back() -> None:
    written = Manifest(
        "sha256:x",
        read_manifest(b'["",["1","sha256"],"1970-01-01T00:00:00Z",0,[]]').build_config,
        "2024-05-06T07:08:09.123Z",
        1,
        [Entry('é"\\\n\x00', "sha256:y", "documents/y.json")],
    )
    assert read_manifest(written.encoded()) == written


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_500_000_000, "1970-01-01T00:00:01.500Z"),
        (1_000_001_000, "1970-01-01T00:00:01.000001Z"),
        (1_000_000_001, "1970-01-01T00:00:01.000000001Z"),
    ],
)
@pytest.mark.requirement("CX-created-at")
def test_times_are_written_with_the_fewest_digits(nanoseconds: int, text: str) -> None:
    assert moments.written(nanoseconds) == text
    moments.check(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", '"plain"'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("\n\r\t\0'", '"\\n\\r\\t\\0\'"'),
        ("\x1b\u200b\u0301é😀", '"\\u{1b}\\u{200b}\\u{301}é😀"'),
    ],
)
def test_quoting(text: str, shown: str) -> None:
    assert quoted(text) == shown
