"""How tokens are counted: by four bytes each, as v0 does, or by a real tokenizer.

The exact counts need the optional package ``rs-bpe``, which brings its tables with it; nothing is
fetched while running. Whichever it is counts for budgets and for the ``tokens`` that are told.

>>> counter("bytes/4")("four bytes")
3
"""

from collections.abc import Callable
from importlib.util import find_spec

from sightline.context.documents import tokens_of

__all__ = ["TOKENIZERS", "TokenizerMissing", "check_installed", "counter"]

Count = Callable[[str], int]

TOKENIZERS = ("bytes/4", "cl100k_base", "o200k_base")


class TokenizerMissing(Exception):
    """The package that knows a tokenizer is not installed. The text says what to do."""


def check_installed(name: str) -> None:
    """Raises ``TokenizerMissing`` where ``counter`` would."""
    # Its tables take 25 MB, so it is not among what every user gets.
    if name != TOKENIZERS[0] and find_spec("rs_bpe") is None:
        raise TokenizerMissing(
            f"counting {name} tokens needs the package rs-bpe; in Sightline's clone, run "
            "pipx install --force '.[tokenizers]'"
        )


def counter(name: str) -> Count:
    """What counts the tokens of a text."""
    check_installed(name)
    if name == TOKENIZERS[0]:
        return tokens_of
    from rs_bpe.bpe import openai

    made = openai.cl100k_base() if name == "cl100k_base" else openai.o200k_base()
    count: Count = made.count
    return count
