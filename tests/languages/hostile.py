"""A repository that tries to be run: every trap creates a file outside of it when it is sprung.

The traps are those a language server, git or an editor is known to walk into: hooks, an interpreter
in an environment, plugins, servers and wrappers named by the project, settings of our own.
"""

import json
from pathlib import Path

__all__ = ["Hostile"]

#: Programs that something may look for beside the project.
_PROGRAMS = """
    node npm python python3 git ty pyright pyright-langserver tsgo tsc tsserver vtsls clangd clang
    gcc cc gopls go rust-analyzer cargo rustc bash-language-server shellcheck shfmt intelephense php
    yaml-language-server vscode-json-language-server
    """.split()


class Hostile:
    """The repository in ``root``; ``sprung`` tells which traps were."""

    def __init__(self, root: Path, outside: Path) -> None:
        self.root = root
        self._sprung = outside / "sprung"
        self._sprung.mkdir(parents=True)
        root.mkdir()
        self._git()
        self._python()
        self._typescript()
        self._c()
        self._rust_and_go()
        self._ours()
        for folder in ("node_modules/.bin", ".venv/bin", "bin"):
            for name in _PROGRAMS:
                self._program(f"{folder}/{name}")

    @property
    def sprung(self) -> list[str]:
        return sorted(path.name for path in self._sprung.iterdir())

    @property
    def path(self) -> str:
        """Where a careless search path would begin."""
        folders = (".", "node_modules/.bin", ".venv/bin", "bin")
        return ":".join([".", *(str(self.root / folder) for folder in folders)])

    def _write(self, name: str, text: str) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def _program(self, name: str) -> str:
        mark = self._sprung / name.replace("/", "-").lstrip(".")
        # Where the kernel holds a server, what it runs can write in its cache only.
        spring = f": > '{mark}' || : > \"$TMPDIR/sprung-{mark.name}\""
        file = self._write(name, f"#!/bin/sh\n{spring}\nexit 1\n")
        file.chmod(0o755)
        return str(file)

    def _script(self, name: str) -> None:
        """JavaScript that springs when it is loaded."""
        mark = json.dumps(str(self._sprung / name.replace("/", "-").lstrip(".")))
        self._write(
            name, f"require('fs').writeFileSync({mark}, '')\nmodule.exports = () => ({{}})\n"
        )

    def _git(self) -> None:
        monitor = self._program("hooks/fsmonitor")
        self._write(
            ".git/config",
            f'[core]\n\tfsmonitor = "{monitor}"\n\thooksPath = hooks\n\tsshCommand = "{monitor}"\n'
            f'[filter "x"]\n\tclean = "{monitor}"\n\tsmudge = "{monitor}"\n'
            f'[diff "x"]\n\ttextconv = "{monitor}"\n',
        )
        self._write(".git/HEAD", "ref: refs/heads/main\n")
        for folder in ("objects", "refs/heads"):
            (self.root / ".git" / folder).mkdir(parents=True)
        self._write(".gitattributes", "* filter=x diff=x\n")

    def _python(self) -> None:
        evil = self._program("evil/python")
        self._write(".venv/pyvenv.cfg", f"home = {self.root}/.venv/bin\nexecutable = {evil}\n")
        self._write(".venv/lib/python3.13/site-packages/evil.pth", "import os; os.abort()\n")
        self._write(
            "pyproject.toml",
            "[project]\nname = 'x'\nversion = '1'\n"
            f"[tool.pyright]\nvenvPath = '.'\nvenv = '.venv'\npythonPath = '{evil}'\n"
            "[tool.ty.environment]\npython = '.venv'\n",
        )
        self._write("main.py", "def area() -> int:\n    return 1\n\n\nprint(area())\n")
        self._write(
            "sitecustomize.py",
            f"open({str(self._sprung / 'sitecustomize')!r}, 'w').close()\n",
        )

    def _typescript(self) -> None:
        plugin = {"name": "evil-plugin"}
        options = {"strict": True, "plugins": [plugin, {"name": "./evil/plugin.js"}]}
        self._write("tsconfig.json", json.dumps({"compilerOptions": options}))
        self._write("main.ts", "export function area(): number {\n  return 1\n}\narea()\n")
        for name in ("node_modules/evil-plugin/index.js", "evil/plugin.js"):
            self._script(name)
        self._write(
            "node_modules/evil-plugin/package.json", '{"name": "evil-plugin", "main": "index.js"}'
        )
        for library in ("tsserver.js", "typescript.js", "tsserverlibrary.js", "tsc.js"):
            self._script(f"node_modules/typescript/lib/{library}")
        self._write(
            "node_modules/typescript/package.json", '{"name": "typescript", "version": "5.9.3"}'
        )
        install = "node evil/plugin.js"
        self._write(
            "package.json", json.dumps({"scripts": {"preinstall": install, "install": install}})
        )

    def _c(self) -> None:
        compiler = self._program("evil/gcc")
        tool = self._program("evil/amdgpu-arch")
        card = f"--target=amdgcn-amd-amdhsa -mcpu=native -nogpulib --amdgpu-arch-tool={tool}"
        written = f"-MJ {self.root}/written.json -fmodules -fmodules-cache-path={self.root}/written"
        log = f"-Xclang -diagnostic-log-file -Xclang {self.root}/written.log"
        ways = {
            "main.c": f"-fplugin={compiler}",
            "card.c": card,
            "program.c": f"--target=amdgcn-amd-amdhsa -mcpu=native -nogpulib -B{self.root}/evil",
            "response.c": f"@{self.root}/evil/response",
            "driver.c": f"--config={self.root}/evil/response",
            "write.c": f"{written} {log}",
        }
        self._write("evil/response", card)
        entries = [
            {"directory": str(self.root), "file": name, "command": f"{compiler} {way} -c {name}"}
            for name, way in ways.items()
        ]
        self._write("compile_commands.json", json.dumps(entries))
        self._write("compile_flags.txt", "\n".join([*card.split(), *written.split()]))
        for name in ways:
            self._write(name, "int other(void);\n")
        self._write(
            ".clangd",
            f"CompileFlags:\n  Compiler: {compiler}\n  BuiltinHeaders: QueryDriver\n"
            f"  Add: [{', '.join(card.split())}]\n",
        )
        self._write("main.c", "int area(void) { return 1; }\nint main(void) { return area(); }\n")

    def _rust_and_go(self) -> None:
        wrapper = self._program("evil/rustc")
        self._write("Cargo.toml", '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n')
        self._write(
            ".cargo/config.toml", f'[build]\nrustc = "{wrapper}"\nrustc-wrapper = "{wrapper}"\n'
        )
        self._write("rust-toolchain.toml", f'[toolchain]\npath = "{self.root}"\n')
        mark = self._sprung / "build-script"
        self._write("build.rs", f'fn main() {{ std::fs::write("{mark}", "").unwrap(); }}\n')
        self._write("src/main.rs", "fn area() -> i32 { 1 }\nfn main() { area(); }\n")
        self._write("go.mod", "module example.invalid/x\n\ngo 1.99\n\ntoolchain go1.99.9\n")
        self._write(
            "main.go", "package main\n\nfunc area() int { return 1 }\n\nfunc main() { area() }\n"
        )

    def _ours(self) -> None:
        server = self._program("evil/server")
        entry = "".join(
            f'[servers.{name}]\ncommand = ["{server}"]\nfound = "path"\n'
            for name in ("ty", "tsgo", "clangd", "bash", "yaml")
        )
        for name in ("sightline.toml", ".sightline.toml", ".config/sightline/sightline.toml"):
            self._write(name, entry)
        settings = {
            "python.defaultInterpreterPath": server,
            "typescript.tsdk": "node_modules/typescript/lib",
        }
        self._write(".vscode/settings.json", json.dumps(settings))
        self._write("area.sh", "#!/bin/bash\narea() { echo 1; }\narea\n")
        self._write(".shellcheckrc", "external-sources=true\n")
        self._write("data.yaml", "a: 1\n")
        self._write("data.json", '{"a": 1}\n')
        self._write("style.css", "a { color: red }\n")
        self._write("page.html", "<html><body><h1>x</h1></body></html>\n")
