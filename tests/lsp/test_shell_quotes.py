"""What is plain text in a shell script, and what is not."""

import re

import pytest

from sightline.lsp.coverage.shell_quotes import plain_texts

#: In each, ``S`` stands for a name where the text is taken as it is, ``W`` where variables expand
#: and words are no names, ``C`` in code.
SCRIPTS = {
    "quotes": "C 'S' \"W\" C$'S\\'S' $\"W\" C",
    "over lines": "C 'S\n\"S\n# S\n' C \"W\n'W\n# W\n\" C # S\nC",
    "escaped": 'C \\\' C \\" C "W \\" W" C \\\n# S\nC',
    "apostrophes": "C \"don't W\" C # don't S\nC 'S' C",
    "an apostrophe alone": "C it's C\nC\n",
    "commands in quotes": "C \"W $(W \"W\" 'S' \"W $(W 'S') W\") W\" C 'S' C",
    "commands in backquotes": "C \"W `W 'S' \\\"W\\\"` don't W\" C `C 'S'` C",
    "a quote in a program": 'C "$(W \'/"/ { S }\' "$1")" C \'S\' C',
    "braces": "C ${C#'}'} C \"${W:-don't} W\" C \"${W%'\"'} W\" C 'S' C",
    "a sharp": "C ${#C} $# C#C ${C# C} C\n",
    "documents": "C <<EOF C 'S'\nW don't # W\n$(W)\nEOF\nC <<'EOF' C\nS don't\n EOF\nC 'S' C",
    "two documents": "C <<A - <<\\B\nW\nA\nS\nB\nC",
    "a document in a command": "C \"$(cat <<'END OF'\nS \"\nEND OF\n)\" C 'S' C",
    "a document without an end": "C\ncat <<'EOF'\nS\nS",
    "no documents": "C $((1 << 2)) $((1 << C)) ((C << C)) <<< C\nlet C=1<<2\nC 'S'\n2\nC\n",
    "text of a document": 'C "cat <<EOF" C\nC\nEOF\nC',
    "branches": "C \"$(case $1 in a) W 'S' ;; (b) W ;; esac) W\" C 'S' C",
    "groups": 'C (C \'S\') C=(C "W" "$( (W) )") C',
    "what runs": "C; trap 'C\nC' EXIT; eval \"C\n'C'\" # S\nC 'S' \"W\"",
    "no trap": "C 'trap ' 'S' \"W\"",
}


@pytest.mark.parametrize("case", list(SCRIPTS))
def test_plain_texts(case: str) -> None:
    script = SCRIPTS[case].encode()
    plain = plain_texts(script)
    names = [match.start() for match in re.finditer(rb"\b[SWC]\b", script)]
    found = ["S" if at in plain.silent else "W" if at in plain.no_words else "C" for at in names]
    assert found == [chr(script[at]) for at in names]
    assert all(at in plain.no_words for at in names if at in plain.silent)
