"""The flags of a compiler that mean something to a reader of code, and nothing else.

A compiler's driver runs programs, loads plugins and writes files when its flags say so, and new
versions bring new flags for it. So the flags of a project that nobody trusted are not searched for
bad ones: a new command line is made of those that are listed here, each in one word, with folders
and files only where the project or the system has them. What is left out and could have changed an
answer is told.

>>> flags = Flags(["/ws"])
>>> flags.rebuilt(["evil/gcc", "-DX", "-I", "inc", "-B.", "-MJ", "/x", "-o", "a.o"], "/ws")
Line(words=('gcc', '-DX', '-I/ws/inc'), unused=frozenset({'-B.'}))
>>> flags.rebuilt(["cc", "--target=amdgcn-amd-amdhsa", "-mcpu=native", "@more"], "/ws").words
('cc',)
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from sightline.contract.possessive import possessive
from sightline.contract.uris import is_under

__all__ = ["Flags", "Line", "is_harmless", "split"]

#: Where compilers and libraries are installed, by somebody who may.
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/opt", "/nix/store", "/gnu/store", "/snap"),
    *("/Library", "/System/Library", "/Applications"),
)
#: Options with a folder, or a file, as their value. The longer ones first.
_FOLDERS = ("-idirafter", "-isystem", "-isysroot", "-iquote", "-iframework", "-I", "-F")
_FILES = ("-include", "-imacros")
_WITH_PATHS = ("--sysroot=", *_FILES, *_FOLDERS)
_TAKES_VALUE = frozenset({*_FOLDERS, *_FILES, "-D", "-U", "-x", "-arch"})
#: Options that another spelling says in one word.
_SPELLINGS = {
    "--sysroot": "--sysroot=",
    "-target": "--target=",
    "--target": "--target=",
    "--include-directory": "-I",
    "--define-macro": "-D",
    "--undefine-macro": "-U",
    "--include": "-include",
    "--imacros": "-imacros",
    "--language": "-x",
    "-std": "-std=",
    "--std": "-std=",
}
_COMPILER = (
    r"(?:(?P<target>[\w.]+(?:-[\w.]+)+)-)?"
    r"(?P<name>cc|c\+\+|gcc|g\+\+|clang|clang\+\+)(?:-[\d.]+)?(?:\.exe)?"
)
#: What stands before a compiler and passes everything on to it.
_WRAPPERS = frozenset({"ccache", "sccache", "distcc", "icecc", "gomacc", "buildcache"})
#: What stands between the words of a command, and what is quoted in them.
_BLANK = r" \t\r\n"
_DOUBLE = r'"(?P<double>(?:[^"\\]+|\\.)*+)"'
_SINGLE = r"'(?P<single>[^']*)'"
#: Processors. A driver asks the machine about graphics cards by running a program.
_TARGET = (
    r"(?:x86_64h?|amd64|i[3-6]86|aarch64(?:_be|_32)?|arm64(?:e|ec|_32)?|arm[\w.]*|thumb[\w.]*"
    r"|riscv(?:32|64)\w*|powerpc\w*|ppc\w*|mips\w*|s390x?|loongarch(?:32|64)|sparc\w*|wasm(?:32|64)"
    r"|avr|msp430|m68k|xtensa|hexagon|bpf\w*)(?:-[\w.]+){0,4}"
)
_ARCHITECTURES = frozenset({"x86_64", "x86_64h", "arm64", "arm64e", "i386"})
_LANGUAGES = "c|c-header|c\\+\\+|c\\+\\+-header|objective-c|objective-c\\+\\+|none"

_BOOLEAN_F = """
    PIC pic PIE pie exceptions cxx-exceptions objc-exceptions rtti signed-char unsigned-char
    short-enums short-wchar ms-extensions ms-compatibility blocks openmp openmp-simd strict-aliasing
    common builtin freestanding hosted omit-frame-pointer wrapv trapv permissive char8_t concepts
    coroutines coroutines-ts aligned-allocation aligned-new sized-deallocation threadsafe-statics
    access-control visibility-inlines-hidden visibility-inlines-hidden-static-local-var
    gnu-keywords gnu89-inline declspec dollars-in-identifiers operator-names
    objc-arc objc-weak objc-arc-exceptions pascal-strings borland-extensions
    delayed-template-parsing experimental-library use-cxa-atexit fast-math finite-math-only
    math-errno rounding-math trapping-math signed-zeros associative-math reciprocal-math
    unsafe-math-optimizations honor-nans honor-infinities lax-vector-conversions altivec
    apple-pragma-pack asm asm-blocks digraphs trigraphs relaxed-template-template-args
    assume-sane-operator-new strict-enums strict-return strict-vtable-pointers native-half-type
    constant-cfstrings elide-constructors implicit-templates implement-inlines nonansi-builtins
    zvector xl-pragma-pack cx-limited-range cx-fortran-rules define-target-os-macros
    new-infallible reflection raw-string-literals
    """.split()
_VALUE_F = (
    r"visibility=(?:default|hidden|internal|protected)|template-depth[=-]\d+|constexpr-\w+=\d+"
    r"|constexpr-(?:loop|ops|cache)-\w+=\d+|bracket-depth=\d+|ms-compatibility-version=[\d.]+"
    r"|msc-version=\d+|(?:exec|input|wide-exec)-charset=[\w-]+|abi-version=\d+"
    r"|clang-abi-compat=[\w.]+|strict-flex-arrays=\d|lax-vector-conversions=\w+|pack-struct=\d+"
    r"|max-type-align=\d+|openmp=lib(?:omp|gomp|iomp5)|openmp-version=\d+|no-builtin-\w+"
    r"|sanitize=[a-z,-]+|no-sanitize=[a-z,-]+|wchar-type=\w+|c\+\+-abi=\w+|cf-runtime-abi=[\w.-]+"
    r"|objc-runtime=[\w.-]+|blocks-runtime-optional|tabstop=\d+|fp-contract=[\w-]+"
)
_BOOLEAN_M = (
    r"(?:sse[\w.]*|ssse3|avx[\w.-]*|mmx|3dnowa?|aes|pclmul|popcnt|lzcnt|bmi2?|fma4?|xop|tbm|f16c"
    r"|rdrnd|rdseed|rdpid|adx|sha(?:512)?|xsave\w*|movbe|cx16|sahf|crc32|gfni|vaes|vpclmulqdq"
    r"|amx-[\w-]+|fsgsbase|prfchw|clflushopt|clwb|sgx|sm[34]|neon|thumb|arm|soft-float|hard-float"
    r"|red-zone|general-regs-only|ms-bitfields|altivec|vsx|htm|crypto|fp64|strict-align"
    r"|unaligned-access|outline-atomics|simd128|relaxed-simd|atomics|bulk-memory|80387|x87"
    r"|long-calls|big-endian|little-endian|kernel|ilp32|windows|unicode|console|dll|threads)"
)
_VALUE_M = (
    r"(?:arch|cpu|tune|abi|fpu|float-abi|cmodel|fpmath|tls-dialect)=(?!native\b)[\w.+-]+"
    r"|(?:macosx|macos|iphoneos|ios|ios-simulator|tvos|watchos)-version-min=[\d.]+"
    r"|(?:regparm|stack-alignment|preferred-stack-boundary|vector-width|sve-vector-bits)=\w+"
    r"|long-double-(?:64|80|128)|mcu=\w+"
)
_PLAIN = "|".join(
    (
        r"-O(?:[0-3sgz]|fast)?",
        r"-W(?!l,|a,|p,)[\w+=-]*|-w|-pedantic(?:-errors)?|-pthread|-ansi|-trigraphs|-undef",
        r"-nostd(?:inc|inc\+\+|libinc)|-nobuiltininc",
        r"-std=(?:c|gnu|iso9899:|objc)[\w+:]*|-stdlib=lib(?:stdc\+\+|c\+\+)",
        r"-f(?:no-)?(?:" + "|".join(map(re.escape, _BOOLEAN_F)) + ")",
        rf"-f(?:{_VALUE_F})",
        r"-m(?:32|64|x32|16)",
        rf"-m(?:no-)?{_BOOLEAN_M}",
        rf"-m(?:{_VALUE_M})",
        rf"-x(?:{_LANGUAGES})",
        rf"--target={_TARGET}",
        r"-[DU][A-Za-z_].*",
    )
)
#: What is about output, linking, speed or messages. No answer depends on it.
_WITHOUT_MEANING = (
    r"-c|-S|-v|-s|-pipe|-static(?:-\w+)*|-shared(?:-\w+)*|-rdynamic|-g.*|-p|-pg|-[lL].*|-o.*|-M.*"
    r"|-W[la],.*|-save-temps.*|--save-temps.*|-Qunused-arguments|-no-canonical-prefixes|-flto.*"
    r"|-f(?:no-)?(?:debug|diagnostics|color-diagnostics|caret|show|message-length|error-limit"
    r"|function-sections|data-sections|stack|cf-protection|profile|coverage|test-coverage|ident"
    r"|merge|unroll|tree|ipa|inline|gcse|var-tracking|reorder|align|schedule|vectorize|slp|unwind"
    r"|asynchronous-unwind|plt|semantic-interposition|optimi|record|integrated|use-ld|limit-debug"
    r"|standalone-debug|verbose-asm|emit|keep|delete-null|strict-overflow|trivial-auto|zero-call"
    r"|macro-prefix|file-prefix|tls-model|rename|peephole|prefetch|split|ira|sched|time|stats"
    r"|cse|dce|dse|tracer|web|branch|if-conversion|conserve|compare|crossjump|ssa|partial"
    r"|predictive|isolate|ffp|excess|float-store|auto-inc|code-hoisting|hardened|direct-access"
    r"|crash|ansi-escape|macro-backtrace|spell|fixit|elide-type|syntax-only).*"
    r"|-m(?:no-)?(?:retpoline|indirect|function-return|fentry|record|nop|skip|omit|harden"
    r"|branch-protection|sign-return|stack-protector|stackrealign|tls|accumulate|push|prefer).*"
    r"|-(?:z|T|e|u|l|L|Xlinker|Xassembler|Xanalyzer|mllvm|install_name|framework"
    r"|compatibility_version|current_version|rpath|dumpbase|dumpdir|aux-info)|--param.*"
)
#: Options whose value is the next word. It is no flag, whatever it looks like.
_TAKES_NEXT = re.compile(
    r"-(?:o|MF|MT|MQ|MJ|z|T|e|u|l|L|B|X\w+|mllvm|mmlir|install_name|framework|rpath|specs"
    r"|compatibility_version|current_version|dumpbase|dumpdir|aux-info|include-pch|iprefix"
    r"|iwithprefix|iwithprefixbefore|ivfsoverlay|working-directory|resource-dir|gcc-toolchain"
    r"|serialize-diagnostics|dependency-file|main-file-name|fplugin|load|plugin|ccc-\S+)"
    r"|--(?:config|output|serialize-diagnostics|param|prefix|gcc-toolchain|assert|for-linker)"
)


class Line(NamedTuple):
    """A command line that was made anew."""

    #: The compiler by its plain name, and flags.
    words: tuple[str, ...]
    #: The flags that were left out, and could have changed an answer.
    unused: frozenset[str] = frozenset()


class Flags:
    """Makes the command lines of a project anew, at one moment: links may change."""

    def __init__(self, tops: Iterable[str]) -> None:
        """``tops``: the folders whose files the project may name, besides the system's."""
        self._tops = (*tops, *_SYSTEM)
        #: A project says the same for all its files.
        self._known: dict[tuple[str, str | None, str], tuple[str, ...] | None] = {}

    def rebuilt(self, words: Sequence[str], base: str) -> Line:
        """A command line again, from what is listed. Paths are meant from ``base``."""
        rest = list(words)
        compiler, kept = "cc", list[str]()
        if rest and not rest[0].startswith(("-", "@")):
            compiler, kept = _compiler(rest)
        unused: set[str] = set()
        for flag, value in _options(rest):
            question = (flag, value, base)
            if question not in self._known:
                self._known[question] = self._kept(flag, value, base)
            told = self._known[question]
            kept += told or ()
            if told is None:
                unused.add(flag)
        return Line((compiler, *kept), frozenset(unused))

    def accepts(self, word: str, base: str) -> bool:
        """Whether one word is kept by itself, whatever stands around it."""
        return word not in _TAKES_VALUE and bool(self._kept(word, None, base))

    def is_among(self, path: str) -> bool:
        """Whether a path leads to a place that may be named."""
        real = os.path.realpath(path)
        return any(is_under(real, top) for top in self._tops)

    def _kept(self, flag: str, value: str | None, base: str) -> tuple[str, ...] | None:
        """What is kept of a flag; ``None`` if it is left out and should be told."""
        word = flag + (value or "")
        option = next((each for each in _WITH_PATHS if flag.startswith(each)), None)
        if not word.isprintable():
            return None
        if _TAKES_NEXT.fullmatch(flag) or option is None:
            if flag == "-arch" and value in _ARCHITECTURES:
                return flag, value
            if is_harmless(word):
                return (word,)
            is_flag = flag.startswith(("-", "@")) and not _matches(_WITHOUT_MEANING, flag)
            return None if is_flag else ()
        place = os.path.normpath(os.path.join(base, word.removeprefix(option)))
        return (option + place,) if self.is_among(place) else None


def split(command: str) -> list[str]:
    """The words of a command as a shell reads them; none if it cannot be read.

    >>> split("cc -DA='b c' f"), split("cc 'a")
    (['cc', '-DA=b c', 'f'], [])
    """
    if not any(mark in command for mark in "'\"\\"):
        return command.split()  # much quicker, and databases are long
    words, unquoted = _words(), _unquoted()
    found: list[str] = []
    for part in words.finditer(command):
        if part["word"]:
            found.append(unquoted(part["word"]))
        elif part["odd"]:  # a quotation that does not end
            return []
    return found


@cache
def _words() -> re.Pattern[str]:
    """The reader of the standard library takes many times longer."""
    word = rf"(?:[^{_BLANK}\"'\\]+|\\.|{_DOUBLE}|{_SINGLE})++"
    return re.compile(possessive(rf"(?P<word>{word})|[{_BLANK}]+|(?P<odd>.)"), re.DOTALL)


@cache
def _unquoted() -> Callable[[str], str]:
    quoted = re.compile(possessive(rf"\\(?P<one>.)|{_DOUBLE}|{_SINGLE}"), re.DOTALL)
    escaped = re.compile(r"\\([\"\\])")

    def plain(part: re.Match[str]) -> str:
        if part["double"] is not None:
            return escaped.sub(r"\1", part["double"])
        return part["one"] or part["single"] or ""

    return lambda word: quoted.sub(plain, word)


def is_harmless(flag: str) -> bool:
    """Whether one word is a listed flag by itself, and names no file."""
    return flag.isprintable() and _matches(_PLAIN, flag)


def _compiler(rest: list[str]) -> tuple[str, list[str]]:
    """The plain name of the compiler, which is taken from the words, and the target it implies."""
    name = os.path.basename(rest.pop(0))
    if name in _WRAPPERS and rest and not rest[0].startswith("-"):
        name = os.path.basename(rest.pop(0))
    known = re.fullmatch(_COMPILER, name)
    if known is None:
        return ("c++" if "++" in name else "cc"), []
    target = f"--target={known['target']}"
    return known["name"], [target] if known["target"] and is_harmless(target) else []


def _options(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Every flag in its listed spelling, and the value that follows it."""
    waiting = list(reversed(words))
    while waiting:
        word = waiting.pop()
        if word == "--":
            return  # only files follow
        name, equals, value = word.partition("=")
        if name in _SPELLINGS and (equals or waiting):
            yield _SPELLINGS[name], value if equals else waiting.pop()
        elif word in _TAKES_VALUE and waiting:
            yield word, waiting.pop()
        else:
            if _TAKES_NEXT.fullmatch(word) and waiting:
                waiting.pop()
            yield word, None


@lru_cache(maxsize=4_096)
def _matches(pattern: str, flag: str) -> bool:
    return re.fullmatch(pattern, flag) is not None
