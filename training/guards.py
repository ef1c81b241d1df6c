"""What must never be learnt from: the repositories and the texts that quality is measured on.

Three guards, each enough to keep most leaks out: whole repositories by name, queries that equal one
of an evaluation set, and code that shares a long run of words with an answer of one.
"""

import re
from collections.abc import Iterable, Iterator

__all__ = ["RUN", "Runs", "excluded", "is_copied_in", "query_key"]

#: Acceptance and our own tests measure on these; forks carry the same name.
_MEASURED = frozenset(
    """
    astropy core-vue django fastmcp flask jq junit-framework junit5 kubernetes matplotlib mockito nest
    pylint pytest redis repomix requests ripgrep scikit-learn seaborn serena sphinx sympy tokio valkey
    xarray zoekt
    """.split()
)
#: Whole owners: mirrors of parts of kubernetes, and of the other measured projects.
_OWNERS = frozenset(
    "kubernetes kubernetes-sigs kubernetes-client k3s-io openshift rancher vuejs nestjs pytest-dev".split()
)
_STAGING = frozenset(
    """
    api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider code-generator
    component-base component-helpers controller-manager cri-api k3s kube-aggregator kubectl kubelet minikube
    """.split()
)
_COPIED = frozenset(
    """
    _vendor 3rdparty 3rd_party bower_components bundled contrib deps extern external externals node_modules
    third-party third_party thirdparty vendor vendored vendors
    """.split()
)

#: A text that shares so many words in a row with a guarded one is found without fail.
RUN = 20
_STEP = 5
_WORDS = re.compile(r"[A-Za-z]+|[0-9]+")


def excluded(repository: str) -> bool:
    """Whether a repository, owner/name, must not be used for training or selection."""
    owner, _, name = repository.lower().partition("/")
    return name in _MEASURED or name in _STAGING or owner in _OWNERS


def is_copied_in(path: str) -> bool:
    """Whether a path lies in a folder for the code of others."""
    return not _COPIED.isdisjoint(path.lower().split("/")[:-1])


def query_key(query: str) -> str:
    """Equal for queries with the same words."""
    return " ".join(_WORDS.findall(query.lower()))


class Runs:
    """A set of runs of words, and whether a text has one of them."""

    def __init__(self, texts: Iterable[str], length: int = RUN) -> None:
        # Looking at every fifth place finds each shared run that is four words longer.
        self._length = length - _STEP + 1
        self._known = {run for text in texts for run in self._of(text, 1)}

    def __len__(self) -> int:
        return len(self._known)

    def touch(self, text: str) -> bool:
        return any(run in self._known for run in self._of(text, _STEP))

    def _of(self, text: str, step: int) -> Iterator[int]:
        words = _WORDS.findall(text.lower())
        for begin in range(0, len(words) - self._length + 1, step):
            yield hash(tuple(words[begin : begin + self._length]))
