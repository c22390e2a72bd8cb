import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';

/** A route as it was registered: `/dashboard/test/:merchant/payments`. */
export interface RegisteredRoute {
  method: string;
  url: string;
}

const channel = 'fastify.initialization';

/**
 * What `start` registers below these paths, as Fastify itself reports it, so that a test which walks every route cannot miss
 * one. The HEAD that comes with each GET is left out.
 */
export async function collectRoutes<World>(
  heads: readonly string[],
  start: () => Promise<World>,
): Promise<{ world: World; routes: RegisteredRoute[] }> {
  const found = new Map<string, RegisteredRoute>();
  const watch = (message: unknown): void => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url }) => {
      if (!heads.some((head) => url === head || url.startsWith(`${head}/`))) return;
      for (const each of [method].flat()) {
        for (const path of spell(url)) if (each !== 'HEAD') found.set(`${each} ${path}`, { method: each, url: path });
      }
    });
  };
  subscribe(channel, watch);
  try {
    const world = await start();
    return { world, routes: [...found.values()] };
  } finally {
    unsubscribe(channel, watch);
  }
}

/** The paths of a route that several words lead to: `/operator/:environment(test|live)`. */
function spell(url: string): string[] {
  const [parameter, words] = /:\w+\((.+?)\)/.exec(url) ?? [];
  return parameter === undefined ? [url] : (words ?? '').split('|').map((word) => url.replace(parameter, word));
}
