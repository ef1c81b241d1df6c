"""Sightline with one change: ``vscode.lsp.definition`` reports its progress before it answers.

    python tests/oracles/reporting.py HEARD serve|stdio ARGUMENTS...

The tools that take long enough to report are not the ones a small workspace can answer with; this
makes the official clients read progress and, over HTTP, an event stream. A call that reports goes
on when the file HEARD exists: the client makes it when it was told. (The TypeScript client forgets
progress that it reads together with the answer.)
"""

import asyncio
import os
import sys
from typing import Any

from sightline.cli.main import main
from sightline.server import compose
from sightline.tools.catalogue import CATALOGUE
from sightline.tools.definition import Definition
from sightline.tools.tool import Desk, Question, Whole

_SECOND_USE = 18


class ReportingDefinition(Definition):
    def __init__(self, heard: str) -> None:
        self._heard = heard

    async def answer(self, desk: Desk, question: Question[Any]) -> Whole:
        if question.arguments.position.character == _SECOND_USE:
            desk.progress("asking the language server", phase="ask", done=1, total=2)
            while not os.path.exists(self._heard):  # the call's own time limit bounds this
                await asyncio.sleep(0.005)
        return await super().answer(desk, question)


if __name__ == "__main__":
    vars(compose)["CATALOGUE"] = (ReportingDefinition(sys.argv[1]), *CATALOGUE[1:])
    sys.exit(main(sys.argv[2:]))
