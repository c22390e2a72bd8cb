import type { FastifyInstance } from 'fastify';
import { createAssets } from '../portal/assets.ts';
import { environmentParameter } from '../portal/environment.ts';
import { preparePortalScope, type PortalOptions } from '../portal/portal-scope.ts';
import { requireSignedIn } from '../portal/sign-in/signed-in-only.ts';
import { seeOther } from '../pages/page-scope.ts';
import { findScreenPath } from './counter-screen/own-counter.ts';
import { appIconRoutes } from './counter-screen/app-icons.ts';
import { EventStreams } from './live/event-streams.ts';
import { dashboardRoutes } from './dashboard-routes.ts';
import { registerRoutes } from './register-routes.ts';
import type { DashboardServices } from './services.ts';

export interface DashboardPagesOptions extends Omit<PortalOptions, 'context' | 'assets'> {
  services: DashboardServices;
}

export const dashboardAssets = createAssets('/dashboard/assets', {
  styles: [
    new URL('../pages/style.css', import.meta.url),
    new URL('../pages/controls.css', import.meta.url),
    new URL('../pages/ends.css', import.meta.url),
    new URL('../portal/portal.css', import.meta.url),
    new URL('../portal/patterns/patterns.css', import.meta.url),
    new URL('balance/balance.css', import.meta.url),
    new URL('counter-screen/counter-screen.css', import.meta.url),
    new URL('counters/counters.css', import.meta.url),
    new URL('home/home.css', import.meta.url),
    new URL('live/live.css', import.meta.url),
    new URL('patterns/charts/charts.css', import.meta.url),
    new URL('patterns/charts/share-parts.css', import.meta.url),
    new URL('requests/requests.css', import.meta.url),
    new URL('search/search.css', import.meta.url),
    new URL('settings/settings.css', import.meta.url),
  ],
  libraries: [
    new URL(import.meta.resolve('htmx.org/dist/htmx.min.js')),
    new URL(import.meta.resolve('htmx.org/dist/ext/hx-sse.min.js')),
  ],
  scripts: [
    new URL('../portal/passkey.js', import.meta.url),
    new URL('../portal/patterns/patterns.js', import.meta.url),
    new URL('patterns/charts/charts.js', import.meta.url),
    new URL('live/live.js', import.meta.url),
    new URL('counter-screen/counter-screen.js', import.meta.url),
    new URL('reference/reference.js', import.meta.url),
  ],
});

/** `/dashboard/{test|live}/{merchant}`: what a business's people see and do. */
export async function dashboardPages(app: FastifyInstance, options: DashboardPagesOptions): Promise<void> {
  const { services } = options;
  const { changes, clock } = services.money;
  const streams = new EventStreams({ changes, clock, log: options.log });
  app.addHook('preClose', async () => streams.endAll());
  const portal = { ...options, assets: dashboardAssets, context: services.accounts };
  dashboardAssets.register(app);
  appIconRoutes(app);
  await app.register(
    async (scope) => {
      const parts = await preparePortalScope(scope, portal);
      const toScreen = requireSignedIn(parts, async (request, reply, { account }) =>
        seeOther(reply, await findScreenPath(services, account.id, request.params.id)),
      );
      // What stands on a note beside the till: neither business nor environment.
      scope.get('/:id', toScreen);
    },
    { prefix: '/dashboard/counter' },
  );
  await app.register(
    async (scope) => {
      const parts = await preparePortalScope(scope, portal);
      registerRoutes(scope, { parts, services, streams }, dashboardRoutes);
    },
    { prefix: `/dashboard/${environmentParameter}` },
  );
}
