import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';

/**
 * The icons of the screen as an app: the tab's icon (pages/icons.ts) in the sizes that tablets ask for, without rounded corners,
 * because each system cuts its own.
 */
export const appIcons = [180, 192, 512].map((size) => ({ size, path: `/dashboard/assets/icon-${size}.png` }));

const yearSeconds = 365 * 24 * 3600;

/** Anybody may read them: a system that installs an app sends no cookies. */
export function appIconRoutes(app: FastifyInstance): void {
  for (const { path, size } of appIcons) {
    let png: Buffer | undefined;
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      png ??= await readFile(new URL(`icon-${size}.png`, import.meta.url));
      return reply.type('image/png').header('cache-control', `public, max-age=${yearSeconds}`).send(png);
    });
  }
}
