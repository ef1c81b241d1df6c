"""One definition, asked in every way that leads to the editor source."""

from tests.editor.families import adopt

globals().update(
    adopt(
        "tests.system.test_definition_everywhere",
        # These start sightline stdio and sightline call, which have no editor.
        not_here=("test_over_stdio", "test_from_the_command_line"),
    )
)
