import { existsSync, readFileSync } from 'node:fs';
import { errorCodes } from '../../kit/error-codes.ts';
import type { ErrorCode } from '../../kit/error-codes.ts';
import { html } from '../../kit/html.ts';
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

/**
 * All codes in the order of the table. The pages are read once, at start; a server that was put up without the docs
 * folder still takes payments, so a page that is missing is only short.
 */
export function readErrorGuides(): Map<string, ErrorGuide> {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  return new Map(codes.map((code) => [code, { code, ...errorCodes[code], body: readBody(code) }]));
}

function readBody(code: ErrorCode): Html {
  const path = new URL(`${code}.md`, folder);
  if (!existsSync(path)) return html`<h1>${errorCodes[code].title}</h1>`;
  return renderMarkdown(readFileSync(path, 'utf8'), linkOf);
}

/** Pages name each other as files, so that the links work in the repository too. */
function linkOf(address: string): string | null {
  const page = /^(\w+)[.]md$/.exec(address)?.[1];
  if (page !== undefined) return `/errors/${page}`;
  return /^https?:\/\//.test(address) ? address : null;
}
