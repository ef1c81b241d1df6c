"""Workspaces made of words: source files in several languages, from a seed."""

import random
from pathlib import Path

__all__ = ["WORDS", "python_file", "source_file", "write_corpus"]

WORDS = (
    "account balance cache client connection cursor decoder delete encoder entry event filter "
    "fetch handler header index insert journal key length limit listener message merge network "
    "node order packet parser path pool query queue range reader record render request response "
    "result retry route schema segment server session signal snapshot socket sort source state "
    "status stream table target task token tree update user value vector view window worker writer"
).split()


def name(rng: random.Random, *, joint: str = "_", size: int = 2) -> str:
    return joint.join(rng.choice(WORDS) for _ in range(size))


def sentence(rng: random.Random, size: int = 8) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(size)).capitalize() + "."


def python_file(rng: random.Random, functions: int = 6) -> str:
    parts = [f'"""{sentence(rng)}"""\n']
    for _ in range(functions):
        arguments = ", ".join({rng.choice(WORDS) for _ in range(2)})
        body = "\n".join(f"    {name(rng)} = {name(rng)}({rng.randrange(99)})" for _ in range(3))
        parts.append(f"\ndef {name(rng)}({arguments}):\n    # {sentence(rng, 5)}\n{body}\n")
    return "\n".join(parts)


def source_file(rng: random.Random, suffix: str) -> str:
    """A text that its suffix's language would take."""
    if suffix == ".py":
        return python_file(rng, rng.randrange(1, 6))
    one, two = name(rng, joint="", size=1), name(rng, joint="", size=1)
    camel = one.capitalize() + two.capitalize()
    if suffix == ".go":
        body = f"func {camel}({two} int) int {{\n\treturn {two} * 2\n}}\n"
        return f"package {one}\n\n// {sentence(rng)}\n{body}"
    if suffix == ".ts":
        method = f"  {two}(): number {{\n    return {rng.randrange(9)};\n  }}\n"
        return f"/** {sentence(rng)} */\nexport class {camel} {{\n{method}}}\n"
    if suffix == ".md":
        return f"# {sentence(rng, 3)}\n\n{sentence(rng)}\n\n## {camel}\n\n{sentence(rng, 20)}\n"
    if suffix == ".json":
        return f'{{\n  "{one}": {{"{two}": {rng.randrange(99)}}},\n  "{camel}": [1, 2]\n}}\n'
    return "\n".join(sentence(rng) for _ in range(rng.randrange(1, 9))) + "\n"


def write_corpus(root: Path, count: int, *, seed: int = 1, functions: int = 6) -> None:
    """``count`` Python files in folders of fifty."""
    rng = random.Random(seed)
    for number in range(count):
        file = root / f"part{number // 50:03}" / f"{name(rng)}_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(python_file(rng, functions), encoding="utf-8")
