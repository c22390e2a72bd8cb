import { readFileSync } from 'node:fs';
import { errorCodes } from '../../kit/error-codes.ts';
import type { ErrorCode } from '../../kit/error-codes.ts';
import type { Html } from '../../kit/html.ts';
import { renderMarkdown } from './markdown.ts';

/** What a code means, from its page in docs/errors. */
export interface ErrorGuide {
  code: ErrorCode;
  status: number;
  title: string;
  body: Html;
}

const folder = new URL('../../../../docs/errors/', import.meta.url);

/** All codes in the order of the table, which goes by status. The pages are read once, at start. */
export function readErrorGuides(): Map<string, ErrorGuide> {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  return new Map(
    codes.map((code) => {
      const { status, title } = errorCodes[code];
      const text = readFileSync(new URL(`${code}.md`, folder), 'utf8');
      return [code, { code, status, title, body: renderMarkdown(text, linkOf) }];
    }),
  );
}

/** Pages name each other as files, so that the links work in the repository too. */
function linkOf(address: string): string | null {
  const page = /^(\w+)[.]md$/.exec(address)?.[1];
  if (page !== undefined) return `/errors/${page}`;
  return /^https?:\/\//.test(address) ? address : null;
}
