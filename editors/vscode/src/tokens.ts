// Bearer tokens: in the editor's secret storage and nowhere else.
import { randomBytes } from 'node:crypto';
import type * as vscode from 'vscode';

export const MAX_TOKENS = 32;
const TOKEN_BYTES = 32;

/** The secret storage holds something that cannot be a list of tokens. Nothing is served then. */
export class MalformedTokens extends Error {
  constructor() {
    super(
      'the stored tokens are not as they should be; run "Sightline: Rotate Tokens" to replace them',
    );
  }
}

/** A JSON array of strings. Blanks around a token and empty tokens are dropped. */
export function parseTokens(stored: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(stored);
  } catch {
    throw new MalformedTokens();
  }
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw new MalformedTokens();
  }
  const tokens = [...new Set(value.map((token) => token.trim()).filter((token) => token !== ''))];
  if (tokens.length > MAX_TOKENS) throw new MalformedTokens();
  return tokens;
}

/** What a person typed: tokens between commas or blanks. */
export function splitTokens(typed: string): string[] {
  return [...new Set(typed.split(/[\s,]+/).filter((token) => token !== ''))];
}

export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

export class Tokens {
  constructor(
    private readonly secrets: vscode.SecretStorage,
    private readonly key: () => string,
  ) {}

  /** The stored tokens; a first one is made where there is none. Throws `MalformedTokens`. */
  async provide(): Promise<string[]> {
    const tokens = await this.stored();
    return tokens.length > 0 ? tokens : this.replace([newToken()]);
  }

  /** The stored tokens, if any. Throws `MalformedTokens`. */
  async stored(): Promise<string[]> {
    const stored = await this.secrets.get(this.key());
    return stored === undefined ? [] : parseTokens(stored);
  }

  async replace(tokens: string[]): Promise<string[]> {
    await this.secrets.store(this.key(), JSON.stringify(tokens));
    return tokens;
  }
}
