import assert from 'node:assert/strict';
import { createApiClient, type ApiResponse } from './api-client.ts';

// Runs the curl lines of a document.

export interface CurlLine {
  command: string;
  /** The response that the page shows below it; null where it shows none. */
  response: unknown;
}

/** The page's curl lines in their order. */
export function curlLines(page: string): CurlLine[] {
  const blocks = [...page.matchAll(/```(sh|json)\n([^]*?)```/g)].map(([, kind, text = '']) => ({ kind, text }));
  const lines = blocks.flatMap(({ kind, text }, index) => {
    if (kind !== 'sh') return [];
    const next = blocks[index + 1];
    const response: unknown = next?.kind === 'json' ? JSON.parse(next.text) : null;
    const joined = text.replaceAll(/\\\n\s*/g, '').split('\n');
    return joined.filter((line) => line.startsWith('curl ')).map((command) => ({ command: command.trim(), response }));
  });
  assert.equal(lines.length, page.match(/^curl /gm)?.length, 'every line is in a block of its own');
  return lines;
}

/** Splits a line as a shell does: adjacent quoted and bare parts are one word. */
function shellArguments(command: string, variables: Record<string, string>): string[] {
  const filled = (part: string): string => part.replaceAll(/\$(\w+)/g, (_, name: string) => variables[name] ?? 'unset');
  const quoted = /'([^']*)'|"((?:\\.|[^"\\])*)"|([^\s'"]+)/g;
  return [...command.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"]+)+/g)].map(([word]) =>
    [...word.matchAll(quoted)]
      .map(([, single, double, bare]) => single ?? filled(double?.replaceAll(/\\(.)/g, '$1') ?? bare ?? ''))
      .join(''),
  );
}

/** Sends the request of a curl line to `url` instead of the documents' address. */
export function runCurlLine(url: string, command: string, variables: Record<string, string>): Promise<ApiResponse> {
  const args = shellArguments(command, variables);
  const valuesOf = (option: string): string[] => args.filter((_, index) => args[index - 1] === option);
  const address = args.find((word) => word.startsWith('http://localhost:8080'));
  assert.ok(address !== undefined && args[0] === 'curl', command);
  const [body] = valuesOf('-d');
  const headers = Object.fromEntries(
    valuesOf('-H').map((header) => {
      const [name = '', value = ''] = header.split(': ');
      return [name.toLowerCase(), value];
    }),
  );
  const [method = body === undefined ? 'GET' : 'POST'] = valuesOf('-X');
  const path = address.replace('http://localhost:8080', '');
  return createApiClient(url, '').send(method, path, { headers, ...(body === undefined ? {} : { body }) });
}

/** Replaces what differs each time: ids, times, tokens, the service's address. */
export function withoutRandomValues(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'an id')
    .replaceAll(/"[0-9a-f]{64}"/g, '"a secret"')
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"')
    .replaceAll(/http:\/\/localhost:\d+/g, 'here')
    .replaceAll(/\b[0-9A-Za-z]{30}\b/g, 'a token')
    .replaceAll(/\/pos\/\d{7}-\w{4}"/g, '/pos/an address"')
    .replaceAll(/"\d{7}"/g, '"a code"');
  return JSON.parse(text);
}
