// From the editor's values to the contract's: numbering, ranges, plain text.
import * as vscode from 'vscode';
import type { EditorDiagnostic, EditorSymbol, Location, Position, Range } from './messages';
import { Failed } from './messages';

export const positionOf = (position: vscode.Position): Position => ({
  line: position.line,
  character: position.character,
});

export const rangeOf = (range: vscode.Range): Range => ({
  start: positionOf(range.start),
  end: positionOf(range.end),
});

export function locationOf(found: vscode.Location | vscode.LocationLink): Location {
  if ('targetUri' in found) {
    const range = found.targetSelectionRange ?? found.targetRange;
    return { uri: found.targetUri.toString(), range: rangeOf(range) };
  }
  return { uri: found.uri.toString(), range: rangeOf(found.range) };
}

/** The editor counts kinds and severities from 0, the Language Server Protocol from 1. */
const fromOne = (number: number): number => number + 1;

export function documentSymbolOf(
  symbol: vscode.DocumentSymbol | vscode.SymbolInformation,
): EditorSymbol {
  // The editor's command gives objects that are both; only children tell a tree from a list.
  if ('range' in symbol) {
    return {
      name: symbol.name,
      kind: fromOne(symbol.kind),
      range: rangeOf(symbol.range),
      selectionRange: rangeOf(symbol.selectionRange),
      children: symbol.children.map(documentSymbolOf),
    };
  }
  return workspaceSymbolOf(symbol);
}

export function workspaceSymbolOf(symbol: vscode.SymbolInformation): EditorSymbol {
  const range = symbol.location.range as vscode.Range | undefined;
  if (!range)
    throw new Failed('unavailable', 'a language extension names a symbol without a place');
  return {
    name: symbol.name,
    kind: fromOne(symbol.kind),
    range: rangeOf(range),
    uri: symbol.location.uri.toString(),
    ...(symbol.containerName ? { containerName: symbol.containerName } : {}),
  };
}

export function diagnosticOf(found: vscode.Diagnostic): EditorDiagnostic {
  const code = codeOf(found.code);
  return {
    range: rangeOf(found.range),
    message: found.message,
    severity: fromOne(found.severity),
    ...(code === undefined ? {} : { code }),
    ...(found.source ? { source: found.source } : {}),
  };
}

export function codeOf(code: vscode.Diagnostic['code']): string | undefined {
  const value = typeof code === 'object' ? code.value : code;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  return value === '' ? undefined : value;
}

export function hoverContentsOf(hovers: readonly vscode.Hover[]): {
  contents: { kind: 'markdown'; value: string }[];
  range?: Range;
} {
  const contents = hovers.flatMap((hover) => hover.contents.map(fragmentOf));
  const ranges = hovers.flatMap((hover) => (hover.range ? [rangeOf(hover.range)] : []));
  const first = ranges.sort(byPlace)[0];
  return {
    contents: contents.map((value) => ({ kind: 'markdown', value })),
    ...(first ? { range: first } : {}),
  };
}

/** Older extensions still give bare strings, or code with its language. */
type Fragment = string | { language?: string; value: string };

function fragmentOf(content: Fragment): string {
  if (typeof content === 'string') return content;
  if (content.language?.trim()) return '```' + content.language + '\n' + content.value + '\n```';
  return content.value;
}

function byPlace(one: Range, two: Range): number {
  return (
    one.start.line - two.start.line ||
    one.start.character - two.start.character ||
    one.end.line - two.end.line ||
    one.end.character - two.end.character
  );
}
