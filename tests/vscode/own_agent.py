"""The editor's own agent: the part of VS Code that speaks MCP and hands tools to its model."""

from tests.vscode.host import Editor

__all__ = ["INVOKE", "own_tools", "start_server"]

#: Calls a tool as the editor's own agent does, again while the answer is that a retry helps.
INVOKE = """
for (;;) {
  try {
    const options = { input: args.input, toolInvocationToken: undefined };
    const said = await vscode.lm.invokeTool(args.tool, options);
    return said.content.map((part) => part.value);
  } catch (error) {
    if (!String(error).includes('CAP_EXCEEDED')) throw error;
  }
}
"""


def own_tools(editor: Editor) -> list[str]:
    """The tools of ours that the editor's own agent can use."""
    listed = editor.js("return vscode.lm.tools.map((tool) => tool.name)")
    return sorted(name for name in listed if "sightline" in name.lower())


def start_server(editor: Editor, name: str) -> None:
    """Starts a server that the editor lists, as a person does."""
    editor.command("MCP: List Servers")
    editor.page("click", selector=f".quick-input-list [aria-label*='{name}']")
    editor.page("click", selector=".quick-input-list [aria-label*='Start Server']")
