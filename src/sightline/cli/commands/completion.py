"""``sightline completion``: the completion of a shell, written from the parsers themselves.

The script is plain text that knows every command, action, flag and choice of this version. It
starts nothing: completing a word costs no Python.
"""

import argparse
import shlex
from collections.abc import Callable, Mapping

from sightline.cli.exits import Exit
from sightline.cli.main import make_parser
from sightline.cli.shape import Shape, shapes

__all__ = ["SHELLS"]


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Prints the completion of a shell. Put it where the shell looks for it, or run it:\n\n"
        '  bash  eval "$(sightline completion bash)", in ~/.bashrc\n'
        "  zsh   the same with zsh, in ~/.zshrc, after compinit\n"
        "  fish  sightline completion fish > ~/.config/fish/completions/sightline.fish",
        'eval "$(sightline completion bash)"',
    )
    made.add_argument("shell", choices=list(SHELLS), help="the shell it is for")
    return made


def run(arguments: argparse.Namespace) -> int:
    print(SHELLS[arguments.shell](list(shapes())), end="")
    return int(Exit.OK)


def _words(known: list[Shape]) -> Mapping[str, list[str]]:
    """What may follow each path of commands: actions, choices, flags."""
    found = {"": [*(shape.path[0] for shape in known if len(shape.path) == 1), "--help"]}
    for shape in known:
        below = [s.path[-1] for s in known if s.path[:-1] == shape.path]
        chosen = [word for positional in shape.positionals for word in positional.choices]
        flags = [flag for option in shape.options for flag in option.flags if flag[:2] == "--"]
        found[" ".join(shape.path)] = below + chosen + flags
    return found


def _values(known: list[Shape]) -> Mapping[str, list[str]]:
    """The values of flags that have a choice, by command and flag."""
    return {
        " ".join([*shape.path, flag]): list(option.choices)
        for shape in known
        for option in shape.options
        if option.choices
        for flag in option.flags
    }


#: Both shells read it: it walks the words that are there and says which may come next.
_FUNCTION = """\
_sightline_words() {{
  local at="" before="" word
  for word in "$@"; do
    case "$at $word" in
{steps}
    esac
    before="$word"
  done
  case "$at $before" in
{values}
  esac
  case "$at" in
{follows}
  esac
}}
"""


def _function(known: list[Shape]) -> str:
    steps = [f"      {_joined(shape.path)}) at={_joined(shape.path)} ;;" for shape in known]
    values = [
        f"    {shlex.quote(' ' + key)}) echo {shlex.quote(' '.join(words))}; return ;;"
        for key, words in _values(known).items()
    ]
    follows = [
        f"    {shlex.quote(' ' + key if key else '')}) echo {shlex.quote(' '.join(words))} ;;"
        for key, words in _words(known).items()
    ]
    return _FUNCTION.format(
        steps="\n".join(steps), values="\n".join(values), follows="\n".join(follows)
    )


def _joined(path: tuple[str, ...]) -> str:
    return shlex.quote(" " + " ".join(path))


def _bash(known: list[Shape]) -> str:
    return _function(known) + (
        "_sightline() {\n"
        '  local words="$(_sightline_words "${COMP_WORDS[@]:1:COMP_CWORD-1}")"\n'
        '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))\n'
        "}\n"
        "complete -o default -F _sightline sightline\n"
    )


def _zsh(known: list[Shape]) -> str:
    return (
        "#compdef sightline\n"
        + _function(known)
        + (
            "_sightline() {\n"
            '  local -a found=(${=$(_sightline_words "${words[@]:1:$((CURRENT-2))}")})\n'
            "  compadd -a found || _files\n"
            "}\n"
            'if [ "$funcstack[1]" = "_sightline" ]; then _sightline\n'
            "else compdef _sightline sightline; fi\n"
        )
    )


def _fish(known: list[Shape]) -> str:
    lines = ["complete -c sightline -e"]
    for shape in known:
        *before, name = shape.path
        inside = _fish_inside(shape.path)
        first = "__fish_use_subcommand" if not before else _fish_inside(tuple(before))
        lines.append(f"complete -c sightline -n '{first}' -f -a {name} -d {_fish_text(shape.line)}")
        for positional in shape.positionals:
            if positional.choices:
                words = " ".join(positional.choices)
                lines.append(f"complete -c sightline -n '{inside}' -f -a '{words}'")
        for option in shape.options:
            names = "".join(
                f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
                for flag in option.flags
            )
            value = " -r" if option.value else ""
            value += f" -f -a '{' '.join(option.choices)}'" if option.choices else ""
            about = _fish_text(option.about)
            lines.append(f"complete -c sightline -n '{inside}'{names}{value} -d {about}")
    return "\n".join(lines) + "\n"


def _fish_inside(path: tuple[str, ...]) -> str:
    return "; and ".join(f"__fish_seen_subcommand_from {name}" for name in path)


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: Mapping[str, Callable[[list[Shape]], str]] = {"bash": _bash, "fish": _fish, "zsh": _zsh}
