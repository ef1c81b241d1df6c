"""What one text of C or C++ says to the preprocessor: what it includes, and what it defines.

Told without one, from the lines that are directives. So an include that no condition of this build
lets through is told, too, and one that leaves its name to a macro is told by that macro; what a
text defines a macro as, if that may be the name of a file, is told with it. Comments between the
words of a directive, lines that go on in the next one and ways that lead up and down again are put
straight: all spellings of an include are one.

>>> sorted(spelled('#include <a/b.h>\\n/**/ # include "./c//d.h" // why\\n%:include "e f.h"'))
['"c/d.h', '"e f.h', '<a/b.h']
>>> sorted(needed('#ifdef _WIN32\\n#include <windows.h>\\n#endif\\n#include <stdio.h>\\n'))
['<stdio.h']
>>> Included.by('#include NAME\\n#define NAME "a.h"\\n#define OTHER 1\\n')
Included(spelled=frozenset(), wanted=frozenset({'NAME'}), literals=(('NAME', '"a.h'),))
"""

import os
import re
from typing import NamedTuple

__all__ = ["Included", "directives", "looked_for", "macros", "needed", "spelled", "straight"]

# Expressions are compiled when they are first needed, which most programs never do.
_NAME = r'(?P<spelled>[<"][^<>"\x00-\x1f\x7f]{1,4096})[>"]'
#: A directive may stand behind the end of a comment. No name is longer than the system's can be.
_INCLUDE = (
    r"^(?:[^\n]*\*/)?[ \t]*#[ \t]*(?:include|import|include_next)[ \t]*"
    rf"(?:{_NAME}|(?P<macro>[A-Za-z_]\w*))"
)
_DEFINE = rf"^(?:[^\n]*\*/)?[ \t]*#[ \t]*define[ \t]+(?P<macro>\w+)[ \t]+{_NAME}[ \t\r]*(?://.*)?$"
#: What a compiler opens without including it: to see whether it is there, for its bytes, or as a
#: module.
_LOOKED_FOR = rf"\b(?:__has_(?:include|include_next|embed)[ \t]*\([ \t]*|embed[ \t]*){_NAME}"
_IMPORTED = rf"^[ \t]*(?:export[ \t]+)?import[ \t]*{_NAME}"
#: What is needed is shown to people, if nobody has it: names of other letters exist, but not in
#: code that anybody writes.
_DIRECTIVE = (
    r"^[ \t]*#[ \t]*(?:"
    r'(?:include|import)[ \t]*(?P<include>[<"][\w./+-]{1,120})[>"]'
    r"|ifndef[ \t]+(?P<unless>\w+)|if[ \t]*!defined[ (]*(?P<unless2>\w+)[ )]*$"
    r"|(?P<begin>if)|(?P<end>endif)|define[ \t]+(?P<define>\w+))"
)
_MACROS = (
    r"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|elif|elifdef|elifndef|define|undef)\b(?P<names>.*)$"
)
#: One that does not end in its line, ends with it: nothing is looked through twice.
_COMMENT = r"/\*[^\n]*?(?:\*/|$)"
_GOES_ON = r"\\[ \t]*\r?\n"


class Included(NamedTuple):
    """What a text includes, with the mark before a name, not the one after."""

    spelled: frozenset[str]
    #: The macros that includes leave their names to.
    wanted: frozenset[str]
    #: What macros are defined as that may be the name of a file.
    literals: tuple[tuple[str, str], ...]

    @classmethod
    def by(cls, text: str) -> "Included":
        joined = _joined(text)
        found = list(re.finditer(_INCLUDE, joined, re.MULTILINE))
        named = re.finditer(_DEFINE, joined, re.MULTILINE)
        return cls(
            frozenset(straight(each["spelled"]) for each in found if each["spelled"]),
            frozenset(each["macro"] for each in found if each["macro"]),
            tuple((each["macro"], straight(each["spelled"])) for each in named),
        )


def spelled(text: str) -> frozenset[str]:
    """The includes of a text that have a name."""
    return Included.by(text).spelled


def looked_for(text: str) -> frozenset[str]:
    """The files that a text has opened without including them, by name.

    >>> sorted(looked_for('#if __has_include(<a.h>)\\n#embed "b"\\nimport "c";\\n#endif\\n'))
    ['"b', '"c', '<a.h']
    """
    names: list[str] = []
    if "__has_" in text or "embed" in text:
        names = [each["spelled"] for each in re.finditer(_LOOKED_FOR, _joined(text))]
    if "import" in text:
        names += [each["spelled"] for each in re.finditer(_IMPORTED, text, re.MULTILINE)]
    return frozenset(map(straight, names))


def needed(text: str) -> frozenset[str]:
    """The includes that hold under no condition but that of a guard around the whole file."""
    found: set[str] = set()
    depth, guard, before = 0, 0, ""
    for number, directive in enumerate(re.finditer(_DIRECTIVE, text, re.MULTILINE)):
        unless = directive["unless"] or directive["unless2"]
        if directive["define"] and number == 1 and directive["define"] == before:
            guard = 1
        elif unless or directive["begin"]:
            depth += 1
        elif directive["end"]:
            depth = max(depth - 1, 0)
        elif directive["include"] and depth <= guard:
            found.add(straight(directive["include"]))
        before = unless or ""
    return frozenset(found)


def macros(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names in conditions, and those that are defined. A guard is defined for nobody else."""
    conditions: set[str] = set()
    defined: set[str] = set()
    guard = ""
    for number, found in enumerate(re.finditer(_MACROS, text, re.MULTILINE)):
        names = re.findall(r"[^\W\d]\w*", found["names"])
        if found["word"] in ("define", "undef"):
            if number != 1 or names[:1] != [guard]:
                defined.update(names[:1])
        else:
            # What goes on in the next line is not read.
            conditions.update([*names, *(["\\"] if found["names"].endswith("\\") else [])])
            guard = names[-1] if number == 0 and names else guard
    return frozenset(conditions), frozenset(defined)


def directives(text: str) -> str:
    """The lines that may be directives: few, so that looking at them closely is quick."""
    return "\n".join([line for line in text.split("\n") if "#" in line])


def straight(include: str) -> str:
    """An include without roundabout ways."""
    return include[0] + os.path.normpath(include[1:])


def _joined(text: str) -> str:
    """The lines that may include, or name what is included, each in one piece and without the
    comments in it.
    """
    if "\\" in text:
        text = re.sub(_GOES_ON, "", text)
    if "%:" in text:
        text = text.replace("%:", "#")
    lines = "\n".join([line for line in text.split("\n") if "#" in line and _may_name(line)])
    return re.sub(_COMMENT, " ", lines, flags=re.MULTILINE) if "/*" in lines else lines


def _may_name(line: str) -> bool:
    if "include" in line or "import" in line or "embed" in line:
        return True
    return "define" in line and ('"' in line or "<" in line)
