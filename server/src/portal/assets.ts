import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import { compress } from '../pages/document.ts';
import { loadScript, loadStyle } from '../pages/inline-asset.ts';

/**
 * The style and scripts of some pages, as files that the browser keeps: unlike the payer's pages, which are seen once, those
 * behind a sign-in are seen all day.
 */
export interface Assets {
  /** For the head of a document. */
  tags: Html;
  register(app: FastifyInstance): Promise<void>;
}

const hashLength = 16;
const yearSeconds = 365 * 24 * 3600;

/** `libraries` are distributed minified and come first in the script. */
interface AssetFiles {
  styles: URL[];
  scripts: URL[];
  libraries?: URL[];
}

/** One style of several files, and one script of several; served under `path`. */
export function createAssets(path: string, { styles, scripts, libraries = [] }: AssetFiles): Assets {
  // The name changes with the content, so a browser never uses an old file with a new page.
  const fileOf = (text: string, extension: string, type: string) => ({
    text,
    type: `${type}; charset=utf-8`,
    path: `${path}/${hash('sha256', text).slice(0, hashLength)}.${extension}`,
  });
  const style = fileOf(loadStyle(...styles).text, 'css', 'text/css');
  const parts = [...libraries.map(readLibrary), loadScript(...scripts).text];
  const script = fileOf(parts.join(';\n'), 'js', 'text/javascript');
  return {
    tags: html`<link rel="stylesheet" href="${style.path}"><script src="${script.path}" defer></script>`,
    async register(app) {
      for (const file of [style, script]) {
        app.get(file.path, { schema: { hide: true } }, async (request, reply) => {
          reply.type(file.type).header('cache-control', `public, max-age=${yearSeconds}, immutable`);
          return reply.send(await compress(request, reply, file.text));
        });
      }
    },
  };
}

/** Without the address of its source map, which is not served. */
function readLibrary(file: URL): string {
  return readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
}
