"""Which language a file is written in, by its name, its first line and, for headers, its text.

A language decides how a file is cut: by declarations where a grammar is pinned, by headings for
prose, by keys for settings, by windows of lines otherwise. It decides nothing else.
"""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from sightline.contract.first_line import program_of

__all__ = ["ALIASES", "LANGUAGES", "Language", "Shape", "language_of"]

#: How files of a language are cut into chunks.
Shape = Literal["declarations", "headings", "keys", "windows"]


class Language(NamedTuple):
    name: str
    shape: Shape
    extensions: tuple[str, ...] = ()
    #: Whole file names, in lower case.
    names: tuple[str, ...] = ()
    #: Programs that the first line of a script in it names, without their versions.
    interpreters: tuple[str, ...] = ()


def _declared(name: str, extensions: str, names: str = "", interpreters: str = "") -> Language:
    return _make(name, "declarations", extensions, names, interpreters)


def _make(
    name: str, shape: Shape, extensions: str, names: str = "", interpreters: str = ""
) -> Language:
    return Language(
        name, shape, tuple(extensions.split()), tuple(names.split()), tuple(interpreters.split())
    )


_TABLE = (
    _declared("python", ".py .pyi .pyw .pyx", interpreters="python pypy uv pipx"),
    _declared("starlark", ".bzl .star", "build build.bazel workspace workspace.bazel"),
    _declared("javascript", ".js .jsx .mjs .cjs", interpreters="node nodejs"),
    _declared("typescript", ".ts .mts .cts", interpreters="deno ts-node tsx bun"),
    _declared("tsx", ".tsx"),
    _declared("go", ".go"),
    _declared("rust", ".rs"),
    _declared("java", ".java"),
    _declared("c", ".c .h"),
    _declared("cpp", ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .tpp .inl .cu .cuh"),
    _declared("csharp", ".cs .csx"),
    _declared(
        "ruby", ".rb .rake .gemspec .ru", "rakefile gemfile podfile vagrantfile", "ruby jruby"
    ),
    _declared("php", ".php .phtml .inc", interpreters="php"),
    _declared("kotlin", ".kt .kts"),
    _declared("swift", ".swift"),
    _declared("scala", ".scala .sc .sbt"),
    _declared(
        "bash", ".sh .bash .zsh .ksh .bats", ".bashrc .profile .zshrc", "sh bash zsh ksh dash bats"
    ),
    _declared("sql", ".sql .ddl .dml"),
    _declared("html", ".html .htm .xhtml"),
    _declared("css", ".css"),
    _make("markdown", "headings", ".md .markdown .mdx .mdown"),
    _make("restructuredtext", "headings", ".rst .rest"),
    _make("text", "headings", ".txt .text .adoc .asciidoc .org", "readme license changes authors"),
    _make("json", "keys", ".json .jsonc .json5 .webmanifest .ipynb"),
    _make("yaml", "keys", ".yaml .yml"),
    _make("toml", "keys", ".toml", "pipfile"),
    _make("ini", "keys", ".ini .cfg .conf .properties .editorconfig .desktop .service .env"),
    _make("hcl", "keys", ".tf .tfvars .hcl"),
    _make("scss", "windows", ".scss .sass .less"),
    _make("vue", "windows", ".vue"),
    _make("svelte", "windows", ".svelte .astro"),
    _make("lua", "windows", ".lua", interpreters="lua"),
    _make("perl", "windows", ".pl .pm .t", interpreters="perl"),
    _make("r", "windows", ".r .rmd"),
    _make("dart", "windows", ".dart"),
    _make("elixir", "windows", ".ex .exs"),
    _make("erlang", "windows", ".erl .hrl"),
    _make("haskell", "windows", ".hs .lhs"),
    _make("clojure", "windows", ".clj .cljs .cljc .edn"),
    _make("fsharp", "windows", ".fs .fsi .fsx"),
    _make("groovy", "windows", ".groovy .gradle", "jenkinsfile"),
    _make("julia", "windows", ".jl"),
    _make("objective-c", "windows", ".m .mm"),
    _make("ocaml", "windows", ".ml .mli"),
    _make("zig", "windows", ".zig"),
    _make("nim", "windows", ".nim"),
    _make("visualbasic", "windows", ".vb .bas"),
    _make("powershell", "windows", ".ps1 .psm1 .psd1"),
    _make("batch", "windows", ".bat .cmd"),
    _make("protobuf", "windows", ".proto"),
    _make("graphql", "windows", ".graphql .gql"),
    _make("thrift", "windows", ".thrift"),
    _make("dockerfile", "windows", ".dockerfile", "dockerfile containerfile"),
    _make("make", "windows", ".mk .mak", "makefile gnumakefile"),
    _make("cmake", "windows", ".cmake", "cmakelists.txt"),
    _make("xml", "windows", ".xml .xsd .xsl .xslt .plist .csproj .props .targets .svg .pom"),
    _make("csv", "windows", ".csv .tsv"),
    _make("assembly", "windows", ".s .asm"),
    _make("vim", "windows", ".vim", ".vimrc"),
    _make("tex", "windows", ".tex .sty .bib"),
    _make("template", "windows", ".j2 .jinja .jinja2 .tmpl .tpl .erb .ejs .hbs .mustache .twig"),
)

LANGUAGES: dict[str, Language] = {language.name: language for language in _TABLE}

#: Other words people use for a language.
ALIASES: dict[str, str] = {
    "py": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "golang": "go",
    "rs": "rust", "c++": "cpp", "cs": "csharp", "c#": "csharp", "rb": "ruby", "kt": "kotlin",
    "sh": "bash", "shell": "bash", "md": "markdown", "rst": "restructuredtext", "yml": "yaml",
    "terraform": "hcl", "docker": "dockerfile", "makefile": "make", "proto": "protobuf",
    "objc": "objective-c", "f#": "fsharp", "vb": "visualbasic",
}  # fmt: skip

#: What a filter by one language also accepts.
_TEXT = LANGUAGES["text"]


def _index(pairs: Iterable[tuple[str, Language]]) -> dict[str, Language]:
    found: dict[str, Language] = {}
    for key, language in pairs:
        assert key not in found, f"{key} belongs to two languages"
        found[key] = language
    return found


_BY_EXTENSION = _index((e, language) for language in _TABLE for e in language.extensions)
_BY_NAME = _index((n, language) for language in _TABLE for n in language.names)
_BY_INTERPRETER = _index((i, language) for language in _TABLE for i in language.interpreters)

_CPP_HEADER = re.compile(
    rb"^[ \t]*(?:class\s+\w|namespace\b|template\s*<|using\s+\w|public:|private:|protected:)"
    rb"|\bstd::",
    re.MULTILINE,
)


def language_of(name: str, head: bytes = b"") -> Language:
    """The language of a file, by its last path component and the beginning of its text.

    >>> language_of("server.go").name
    'go'
    >>> language_of("run", b"#!/usr/bin/env python3").name
    'python'
    """
    lower = name.lower()
    found = _BY_NAME.get(lower)
    if found is None:
        stem, dot, extension = lower.rpartition(".")
        found = _BY_EXTENSION.get(dot + extension) if dot else None
        if found is None and dot and stem:
            found = _BY_NAME.get(stem)  # Dockerfile.dev, Makefile.am
    if found is None:
        found = _BY_INTERPRETER.get(program_of(head))
    if found is None:
        return _TEXT
    if found.name == "c" and lower.endswith(".h") and _CPP_HEADER.search(head):
        return LANGUAGES["cpp"]
    return found
