"""The options of ``sightline context`` by the rules of the command it stands in for.

Long options only, each at most once, no abbreviations. A value that begins with ``-`` must be given
as ``--query=-x``. What is wrong is said in that command's words, first the error, then the usage.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sightline.cli.numbers import unsigned_64

__all__ = [
    "Command",
    "HelpWanted",
    "Option",
    "UsageError",
    "choice",
    "parse",
    "path",
    "text",
    "unsigned",
    "usage_error",
]


class UsageError(Exception):
    """The arguments cannot be used. The text is what the command prints."""


class HelpWanted(Exception):
    """The arguments ask for help instead."""


class BadValue(Exception):
    """A value an option does not take; without a reason it is as good as none."""

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason)
        self.reason = reason


class Option(NamedTuple):
    """``read`` makes a value of the text, or raises ``BadValue``; a flag has none."""

    name: str
    read: Callable[[str], object] | None = None
    required: bool = False
    note: str = ""

    @property
    def shown(self) -> str:
        return f"--{self.name} <{self.name.upper()}>" if self.read else f"--{self.name}"


class Command(NamedTuple):
    name: str
    options: tuple[Option, ...]
    #: Options that are ours: taken, and not mentioned in the usage.
    added: tuple[Option, ...] = ()


def text(value: str) -> str:
    return value


def path(value: str) -> str:
    if not value:
        raise BadValue(None)
    return value


def unsigned(value: str) -> int:
    digits = value.removeprefix("+")
    if not value:
        raise BadValue(": cannot parse integer from empty string")
    if not (digits.isascii() and digits.isdigit()):
        raise BadValue(": invalid digit found in string")
    number = unsigned_64(digits)
    if number is None:
        raise BadValue(": number too large to fit in target type")
    return number


def choice(*values: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in values:
            raise BadValue("" if value else None)
        return value

    return read


def parse(command: Command, argv: Sequence[str], prog: str) -> dict[str, object]:
    """The values of the options that were given, by name."""
    return _Parsing(command, prog).run(list(argv))


class _Parsing:
    def __init__(self, command: Command, prog: str) -> None:
        self._command = command
        self._prog = f"{prog} {command.name}"
        self._options = {o.name: o for o in (*command.options, *command.added)}
        self._given: dict[str, str] = {}
        self._values: dict[str, object] = {}
        #: A value is read when the argument after it is known to be good.
        self._unread: tuple[Option, str] | None = None

    def run(self, argv: list[str]) -> dict[str, object]:
        while argv:
            argument = argv.pop(0)
            if argument == "--" and not argv:
                break
            option, value = self._option(argv.pop(0) if argument == "--" else argument, argument)
            if option.name in self._given:
                raise usage_error(
                    f"the argument '{option.shown}' cannot be used multiple times", self._usage()
                )
            if option.read is None and value is not None:
                self._given[option.name] = value
                raise usage_error(
                    f"unexpected value '{value}' for '{option.shown}' found; no more were expected",
                    self._usage(used=True),
                )
            if option.read is not None and value is None:
                value = self._following(option, argv)
            self._given[option.name] = value or ""
            self._unread = option, value or ""
        self._read()
        missing = [o for o in self._command.options if o.required and o.name not in self._given]
        if missing:
            listed = "".join(f"\n  {option.shown}" for option in missing)
            raise usage_error(
                f"the following required arguments were not provided:{listed}",
                self._usage(used=True),
            )
        return self._values

    def _option(self, argument: str, before: str) -> tuple[Option, str | None]:
        if argument in ("-h", "--help") and before != "--":
            raise HelpWanted
        name, equals, value = argument.removeprefix("--").partition("=")
        if before != "--" and argument.startswith("--") and name in self._options:
            self._read()
            return self._options[name], value if equals else None
        long = argument.startswith("--") and before != "--"
        shown = f"--{name}" if long else argument[:2] if _is_short(argument) else argument
        raise usage_error(
            f"unexpected argument '{shown}' found",
            self._usage(used=long and bool(self._given)),
        )

    def _following(self, option: Option, argv: list[str]) -> str:
        """The next argument as a value. One that begins with ``-`` is none."""
        if argv and (argv[0] == "-" or not argv[0].startswith("-")):
            return argv.pop(0)
        if argv and argv[0] != "--" and not argv[0].startswith("-h"):
            self._given[option.name] = ""
            self._option(argv[0], "")
        raise self._no_value(option)

    def _read(self) -> None:
        if self._unread is None:
            return
        (option, value), self._unread = self._unread, None
        self._values[option.name] = True if option.read is None else self._value(option, value)

    def _value(self, option: Option, value: str) -> object:
        assert option.read is not None
        try:
            if option.read is not path:
                value.encode()
        except UnicodeEncodeError:
            raise usage_error(
                "invalid UTF-8 was detected in one or more arguments", self._usage()
            ) from None
        try:
            return option.read(value)
        except BadValue as bad:
            if bad.reason is None:
                raise self._no_value(option) from None
            message = f"invalid value '{value}' for '{option.shown}'{bad.reason}{option.note}"
            raise usage_error(message) from None

    def _no_value(self, option: Option) -> UsageError:
        return usage_error(
            f"a value is required for '{option.shown}' but none was supplied{option.note}"
        )

    def _usage(self, *, used: bool = False) -> str:
        required = [option.shown for option in self._command.options if option.required]
        optional = [option for option in self._command.options if not option.required]
        if used:
            given = [option.shown for option in optional if option.name in self._given]
            return " ".join([self._prog, *required, *given])
        return " ".join([self._prog, *["[OPTIONS]"][: len(optional)], *required])


def usage_error(message: str, usage: str | None = None) -> UsageError:
    """What is wrong, how the command is used, and where to read more."""
    middle = f"Usage: {usage}\n\n" if usage else ""
    return UsageError(f"error: {message}\n\n{middle}For more information, try '--help'.")


def _is_short(argument: str) -> bool:
    return len(argument) > 1 and argument[0] == "-" and argument[1] != "-"
