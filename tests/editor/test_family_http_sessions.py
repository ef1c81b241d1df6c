"""Sessions over real sockets, with the editor source behind them."""

from tests.editor.families import adopt

globals().update(
    adopt(
        "tests.server.test_http_sessions",
        # These start a server of their own, with a settings file, or none at all.
        not_here=(
            "choosy",
            "test_a_client_that_never_sends_the_version",
            "test_names_of_one_client",
            "test_a_listed_origin",
            "test_a_listed_host",
            "test_the_store_forgets_what_is_idle",
            "test_a_found_session_is_the_youngest",
            "test_ids_are_long_and_random",
        ),
    )
)
