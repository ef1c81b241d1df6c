"""Selection by v0's rules, one after the other, with nothing prepared and nothing shared."""

import hashlib
import math
from collections.abc import Iterable
from struct import pack, unpack
from typing import Any

from sightline.context.words import WHITE_SPACE, lower

__all__ = ["as_single", "reference"]


def reference(documents: Iterable[tuple[str, str]], query: str, budget: int) -> dict[str, Any]:
    """What a selection from documents, as pairs of id and content, must be."""

    def split(text: str) -> list[str]:
        for space in WHITE_SPACE:
            text = text.replace(space, "\n")
        return [word for word in text.split("\n") if word]

    def single(number: float) -> float:
        value: float = unpack("f", pack("f", number))[0]
        return value

    terms = split(lower(query))
    scored = []
    for id_, content in documents:
        found = split(lower(content))
        matches = sum(terms.count(word) for word in found)
        score = single(single(matches) / single(len(found))) if found else 0.0
        scored.append((-score, id_.encode(), content, matches, len(found)))
    left, taken = budget, []
    for negative, id_bytes, content, matches, total in sorted(scored):
        tokens = math.ceil(len(content.encode()) / 4)
        if tokens <= left:
            left -= tokens
            why = {"query_terms": terms, "term_matches": matches, "total_words": total}
            taken.append(
                {
                    "id": id_bytes.decode(),
                    "version": "sha256:" + hashlib.sha256(content.encode()).hexdigest(),
                    "content": content,
                    "score": -negative,
                    "tokens": tokens,
                    "why": why,
                }
            )
    return {
        "documents": taken,
        "selection": {
            "query": query,
            "budget": budget,
            "tokens_used": budget - left,
            "documents_considered": len(scored),
            "documents_selected": len(taken),
            "documents_excluded_by_budget": len(scored) - len(taken),
        },
    }


def as_single(answer: Any) -> Any:
    """An answer with its scores read as what they stand for: single-precision numbers."""
    for document in answer["documents"]:
        document["score"] = unpack("f", pack("f", document["score"]))[0]
    return answer
