/** What a usage line says that a command takes. */
export interface CommandUsage {
  /** By name, without the dashes. */
  options: ReadonlyMap<string, OptionUsage>;
  positionalsMin: number;
  positionalsMax: number;
}

interface OptionUsage {
  /** A `list` may be given more than once; a `flag` has no value. */
  kind: 'value' | 'list' | 'flag';
  required: boolean;
}

/**
 * Reads a usage line such as `<file> [<name>] --to <folder> [--event <kind>]... [--at <time>|now] (--default | --order <number>)`.
 * What stands in brackets or parentheses is not required: which of two alternatives it needs, the command says itself. An
 * argument without a name is in angle brackets, so other words only explain.
 */
export function readUsage(usage: string): CommandUsage {
  const tokens = usage.match(/--[a-z\d-]+|<[^>]*>|'[^']*'|\.{3}|…|[[\]()|]|[^\s[\]()|]+/g) ?? [];
  const options = new Map<string, OptionUsage>();
  let [depth, positionalsMin, positionalsMax] = [0, 0, 0];
  let newest: OptionUsage | undefined;
  for (const [index, token] of tokens.entries()) {
    const [before = '', after = ''] = [tokens[index - 1], tokens[index + 1]];
    if (token === '[' || token === '(') depth += 1;
    else if (token === ']' || token === ')') depth -= 1;
    else if ((token === '...' || token === '…') && newest) newest.kind = 'list';
    else if (token.startsWith('--')) {
      const kind = /^[\w<']/.test(after) ? 'value' : 'flag';
      newest = { kind, required: kind === 'value' && depth === 0 };
      options.set(token.slice(2), newest);
    } else if (token.startsWith('<') && !before.startsWith('--')) {
      positionalsMax += 1;
      if (depth === 0) positionalsMin += 1;
    }
  }
  return { options, positionalsMin, positionalsMax };
}
