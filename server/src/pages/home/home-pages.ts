import type { FastifyPluginAsync } from 'fastify';
import { createPageSender } from '../document.ts';
import { loadStyle } from '../inline-asset.ts';
import { homePage } from './home-page.ts';

export interface HomePagesOptions {
  /** Where the world reaches the service; a function, because a port is known only once it listens. */
  publicUrl: () => string;
  /** Whether anybody may hold the simulated phone; on a production server it takes a link of its own. */
  offersPhone: boolean;
}

const style = loadStyle(new URL('../style.css', import.meta.url), new URL('../controls.css', import.meta.url));

/** The bare address, and the icon that browsers ask for beside whatever is not a page. */
export const homePages: FastifyPluginAsync<HomePagesOptions> = async (app, { publicUrl, offersPhone }) => {
  const sender = createPageSender({ publicUrl, style, script: null });
  app.get('/', async (request, reply) =>
    sender.send(request, reply, { status: 200, content: homePage({ offersPhone }) }),
  );
  app.get('/favicon.ico', async (_request, reply) =>
    reply.code(204).header('cache-control', 'public, max-age=86400').send(),
  );
};
