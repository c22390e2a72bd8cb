import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../kit/html.ts';
import { compress } from '../pages/document.ts';
import { commonStyles, loadScript, loadStyle } from '../pages/inline-asset.ts';

/**
 * The style and scripts of some pages, as files that the browser keeps: unlike the payer's pages, which are seen once, those
 * behind a sign-in are seen all day.
 */
export interface Assets {
  /** For the head of a document. */
  tags: Html;
  /** The script as it is served. */
  scriptText(): string;
  register(app: FastifyInstance): void;
}

const hashLength = 16;
const yearSeconds = 365 * 24 * 3600;

/** What some pages have besides. `libraries` are distributed minified and come first in the script. */
interface AssetFiles {
  styles?: URL[];
  scripts?: URL[];
  libraries?: URL[];
}

// Of all pages behind a sign-in, and of those that lead there.
const sharedStyles = [...commonStyles, new URL('portal.css', import.meta.url)];
const sharedScripts = [new URL('passkey.js', import.meta.url), new URL('patterns/patterns.js', import.meta.url)];

/** One style of several files, and one script of several; served under `path`. */
export function createAssets(path: string, { libraries = [], ...own }: AssetFiles = {}): Assets {
  const styles = [...sharedStyles, ...(own.styles ?? [])];
  const scripts = [...sharedScripts, ...(own.scripts ?? [])];
  // The name changes with the content, so a browser never uses an old file with a new page.
  const pathOf = (files: URL[], extension: string) =>
    `${path}/${hash('sha256', files.map((file) => readFileSync(file, 'utf8')).join('')).slice(0, hashLength)}.${extension}`;
  const style = { path: pathOf(styles, 'css'), type: 'text/css', text: () => loadStyle(...styles).text };
  const script = {
    path: pathOf([...libraries, ...scripts], 'js'),
    type: 'text/javascript',
    text: () => [...libraries.map(readLibrary), loadScript(...scripts).text].join(';\n'),
  };
  return {
    tags: html`<link rel="stylesheet" href="${style.path}"><script src="${script.path}" defer></script>`,
    scriptText: script.text,
    register(app) {
      for (const file of [style, script]) {
        let made: string | null = null;
        const text = (): string => (made ??= file.text());
        app.get(file.path, { schema: { hide: true } }, async (request, reply) => {
          reply
            .type(`${file.type}; charset=utf-8`)
            .header('cache-control', `public, max-age=${yearSeconds}, immutable`);
          return reply.send(await compress(request, reply, text()));
        });
      }
    },
  };
}

/** Without the address of its source map, which is not served. */
function readLibrary(file: URL): string {
  return readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
}
