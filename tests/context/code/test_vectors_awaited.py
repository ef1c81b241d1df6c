"""The same question has the same bytes, however soon after a build it is asked."""

import json
from pathlib import Path
from typing import Any

from tests.support.engine import Engine, engine

_QUESTION = "give the money back to somebody who paid too much"


async def resolved(running: Engine) -> Any:
    asked = {"cache": "workspace:ws", "query": _QUESTION, "budget": 400}
    return await running.once("context.resolve", **asked)


async def test_vectors_that_are_being_made_are_waited_for(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    for number in range(6):
        body = [f"def paid_{number}_{n}(much):\n    return much + {n}\n\n\n" for n in range(90)]
        (root / f"f{number}.py").write_text("".join(body))
    (root / "refunds.py").write_text(
        "def refund(amount, customer):\n    bank.transfer(customer.account, amount)\n"
    )
    cache = tmp_path / "cache"
    async with engine(root, cache=cache, families=("index", "context")) as running:
        await running.once("index_build")
        [before] = (await running.once("index_status"))["roots"]
        assert before["vectors"]["total"] > 400, "more than a build waits for"
        at_once = await resolved(running)
        index = await running.program.index.get()
        for builder in index.builders.values():
            assert (await index.dense.finish(builder)).complete
        assert json.dumps(await resolved(running)) == json.dumps(at_once)
