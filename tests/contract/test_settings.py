"""Settings: defaults, bounds, clamping, wrong types."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.cli.clients.table import CLIENTS
from sightline.contract.settings import SHOWN_BYTES, BadSetting, Settings

NUMBERS = {
    "port": (1024, 65_535),
    "max_sessions": (1, 64),
    "session_idle_s": (1, 86_400),
    "max_items_per_page": (1, 200),
    "max_response_bytes": (16_384, 524_288),
    "request_timeout_ms": (250, 2_000),
}
KEYS = list(Settings.__struct_fields__)


@pytest.mark.requirement("GA-settings")
def test_defaults() -> None:
    made, warnings = Settings.parse({})
    assert warnings == []
    assert made == Settings(
        port=3939,
        bind_address="127.0.0.1",
        endpoint_path="/mcp",
        allowed_origins=(),
        allowed_hosts=(),
        additional_allowed_roots=(),
        enable_sessions=True,
        max_sessions=64,
        session_idle_s=3600,
        max_items_per_page=200,
        max_response_bytes=524_288,
        answer_bytes=524_288,
        request_timeout_ms=2_000,
        debug_logging=False,
        families=("code", "lsp", "index", "context"),
        tool_names="dotted",
        content="empty",
        protocol_header="required",
        clients={},
    )


@pytest.mark.requirement("GW-5.1-clamped")
@pytest.mark.parametrize("key", [key for key in NUMBERS if key != "port"])
def test_a_number_above_its_maximum_is_lowered_with_a_warning(key: str) -> None:
    highest = NUMBERS[key][1]
    made, warnings = Settings.parse({key: highest + 1})
    assert getattr(made, key) == highest
    assert len(warnings) == 1 and key in warnings[0] and str(highest) in warnings[0]


@given(st.sampled_from(sorted(NUMBERS)), st.integers())
def test_no_number_leaves_its_bounds(key: str, value: int) -> None:
    lowest, highest = NUMBERS[key]
    if value < lowest or (key == "port" and value > highest):
        with pytest.raises(BadSetting, match=key):
            Settings.parse({key: value})
        return
    made, warnings = Settings.parse({key: value})
    assert lowest <= getattr(made, key) <= highest
    assert bool(warnings) == (value > highest)
    assert getattr(made, key) == min(value, highest)


@pytest.mark.parametrize("key", sorted(NUMBERS))
@pytest.mark.parametrize(
    "value",
    [None, True, False, 1.0, 1500.0, "", " 2000", "2_000", "0x10", "-1", "٣", [], {}, "1e3"],
)
def test_a_number_of_a_wrong_type_is_refused(key: str, value: object) -> None:
    with pytest.raises(BadSetting, match=key):
        Settings.parse({key: value})


@pytest.mark.requirement("GA-bind")
@pytest.mark.parametrize("address", ["0.0.0.0", "::1", "localhost", "127.0.0.2", "", None, 1])
def test_only_one_address_can_be_bound(address: object) -> None:
    with pytest.raises(BadSetting, match=r"127\.0\.0\.1"):
        Settings.parse({"bind_address": address})


@pytest.mark.requirement("GA-absolute-roots")
@pytest.mark.parametrize("root", ["x", "./x", "../x", "~/x", "", " /x"])
def test_roots_are_absolute(root: str) -> None:
    with pytest.raises(BadSetting, match="additional_allowed_roots"):
        Settings.parse({"additional_allowed_roots": [root]})


@pytest.mark.parametrize(
    ("key", "value", "parsed"),
    [
        ("port", "4000", 4000),
        ("enable_sessions", "false", False),
        ("debug_logging", True, True),
        ("families", "lsp", ("lsp",)),
        ("families", ["context", "lsp"], ("lsp", "context")),
        ("allowed_origins", "http://a, http://b", ("http://a", "http://b")),
        ("allowed_hosts", [], ()),
        ("additional_allowed_roots", ["/a", "/b"], ("/a", "/b")),
        ("tool_names", "underscore", "underscore"),
        ("content", "mirror", "mirror"),
        ("protocol_header", "session", "session"),
    ],
)
def test_good_values(key: str, value: object, parsed: object) -> None:
    made, warnings = Settings.parse({key: value})
    assert (getattr(made, key), warnings) == (parsed, [])


@pytest.mark.requirement("GA-settings")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enable_sessions", "yes"),
        ("enable_sessions", 1),
        ("families", []),
        ("families", "lsp,other"),
        ("families", 3),
        ("allowed_origins", [1]),
        ("allowed_origins", {"a": 1}),
        ("allowed_origins", ["x" * 5_000]),
        ("allowed_hosts", ["h"] * 65),
        ("endpoint_path", "/other"),
        ("tool_names", "dashes"),
        ("tool_names", []),
        ("content", None),
        ("protocol_header", "never"),
        ("clients", "x"),
        ("clients", {"a": 1}),
        ("clients", {"a": {"port": 1}}),
        ("clients", {"a": {"content": "loud"}}),
        ("unknown", 1),
        ("", 1),
    ],
)
def test_bad_values_name_their_key(key: str, value: object) -> None:
    with pytest.raises(BadSetting) as bad:
        Settings.parse({key: value})
    assert key in str(bad.value)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*KEYS, "other"]), anything, max_size=3))
def test_any_value_is_taken_or_refused(values: dict[str, Any]) -> None:
    try:
        made, _ = Settings.parse(values)
    except BadSetting:
        return
    assert made.bind_address == "127.0.0.1"


def test_options_of_a_client() -> None:
    clients = {"gemini": {"content": "mirror", "answer_bytes": "30000"}, "other": {}}
    made, _ = Settings.parse({"content": "summary", "clients": clients})
    gemini = made.for_client("gemini")
    assert (gemini.content, gemini.tool_names, gemini.protocol_header) == (
        "mirror",
        "dotted",
        "required",
    )
    assert made.for_client("other").content == made.for_client("nobody").content == "summary"
    assert (gemini.answer_bytes, made.for_client("other").answer_bytes) == (30_000, 524_288)


def test_what_clients_show_is_known_unless_they_are_told_otherwise() -> None:
    made, _ = Settings.parse({"clients": {"opencode": {"answer_bytes": 200_000}}})
    names = ("claude-code", "opencode", "nobody")
    assert [made.for_client(name).answer_bytes for name in names] == [30_000, 200_000, 524_288]
    made, _ = Settings.parse({"answer_bytes": 20_000})
    names = ("claude-code", "codex-mcp-client", "nobody")
    assert [made.for_client(name).answer_bytes for name in names] == [20_000, 11_000, 20_000]
    assert SHOWN_BYTES.keys() <= {client.name for client in CLIENTS.values()}
