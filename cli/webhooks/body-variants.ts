import { isUtf8 } from 'node:buffer';
import type { Cause } from './causes.ts';
import { serviceForms } from './rewritten-json.ts';

/** What may have been signed, if this happened to it on the way. */
export interface BodyVariant {
  body: Buffer;
  cause: Cause | null;
}

const lineEnd = Buffer.from('\n');
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** The body itself, and then each body that it may have been before somebody changed it, the plainest first. */
export function bodyVariants(received: Uint8Array): BodyVariant[] {
  const body = Buffer.from(received);
  const undone: BodyVariant[] = [
    { body, cause: null },
    ...lineEndVariants(body),
    ...markVariants(body),
    ...encodingVariants(body),
    ...wrappingVariants(body),
    ...serviceForms(body.toString('utf8')).map(({ text, changed }): BodyVariant => ({
      body: Buffer.from(text),
      cause: { cause: 'rewritten', detail: changed },
    })),
  ];
  return undone.filter((variant, place) => undone.findIndex((other) => other.body.equals(variant.body)) === place);
}

function lineEndVariants(body: Buffer): BodyVariant[] {
  const text = body.toString('latin1');
  const changed = text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n');
  return [
    { body: Buffer.from(text.replace(/[\r\n\t ]+$/, ''), 'latin1'), cause: { cause: 'line_end_added' } },
    { body: Buffer.concat([body, lineEnd]), cause: { cause: 'line_end_removed' } },
    { body: Buffer.from(changed, 'latin1'), cause: { cause: 'line_ends_changed' } },
  ];
}

function markVariants(body: Buffer): BodyVariant[] {
  const hasMark = body.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  return hasMark ? [{ body: body.subarray(byteOrderMark.length), cause: { cause: 'byte_order_mark' } }] : [];
}

function encodingVariants(body: Buffer): BodyVariant[] {
  const text = body.toString('utf8');
  const latin = Buffer.from(text, 'latin1');
  const isLatin = isUtf8(body) && text.length < body.length && latin.toString('latin1') === text;
  return isLatin ? [{ body: latin, cause: { cause: 'wrong_encoding' } }] : [];
}

function wrappingVariants(body: Buffer): BodyVariant[] {
  const text = body.toString('utf8').trim();
  const variants: BodyVariant[] = [];
  const quoted = text.startsWith('"') ? parsedString(text) : undefined;
  if (quoted !== undefined) variants.push({ body: Buffer.from(quoted), cause: { cause: 'body_quoted' } });
  if (/^[A-Za-z0-9+/\r\n]{8,}={0,2}$/.test(text)) {
    variants.push({ body: Buffer.from(text, 'base64'), cause: { cause: 'body_in_base64' } });
  }
  return variants;
}

function parsedString(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
