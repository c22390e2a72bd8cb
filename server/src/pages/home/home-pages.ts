import type { FastifyPluginAsync } from 'fastify';
import { html } from '../../kit/html.ts';
import { createPageSender } from '../document.ts';
import { icon } from '../icons.ts';
import { commonStyles, loadStyle } from '../inline-asset.ts';
import { messagePage } from '../layout.ts';

export interface HomePagesOptions {
  /** The service's public URL; a function, because the port is known only once it listens. */
  publicUrl: () => string;
  /** Whether the simulated phone is open to everyone; on a production server it needs a signed link. */
  offersPhone: boolean;
}

const style = loadStyle(...commonStyles);

/** The home page at `/`, and an empty `/favicon.ico`, which browsers request for everything that is not a page. */
export const homePages: FastifyPluginAsync<HomePagesOptions> = async (app, { publicUrl, offersPhone }) => {
  const sender = createPageSender({ publicUrl, style, script: null });
  const content = messagePage({
    heading: 'Dalasi is running',
    title: 'Dalasi',
    icon: 'check',
    tone: 'good',
    body: html`<p>This is a mobile-money payments service. If you came here to pay, open the link that the shop gave you.</p>
<p><a class="button" href="/docs">API reference</a></p>
${offersPhone && html`<p><a class="button plain" href="/simulator/phone">${icon('phone')}<span>Simulated phone</span></a></p>`}`,
  });
  app.get('/', async (request, reply) => sender.send(request, reply, { status: 200, content }));
  app.get('/favicon.ico', async (_request, reply) =>
    reply.code(204).header('cache-control', 'public, max-age=86400').send(),
  );
};
