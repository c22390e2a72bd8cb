import type { FastifyInstance } from 'fastify';
import { VisitorLimit } from '../accounts/sign-in.ts';
import { seeOther } from '../pages/page-scope.ts';
import { createAssets } from '../portal/assets.ts';
import { preparePortalScope, type PortalOptions } from '../portal/portal-scope.ts';
import { registerAccountPages } from '../portal/sign-in/account-pages.ts';
import { registerSignInPages } from '../portal/sign-in/visitor-pages.ts';
import { environmentRoutes, installationRoutes } from './console-routes.ts';
import { ofEnvironment, registerRoutes } from './register-routes.ts';
import type { ConsoleServices } from './services.ts';
import { consoleHome } from './visit.ts';

export interface ConsolePagesOptions extends Omit<PortalOptions, 'context' | 'assets' | 'realm'> {
  services: ConsoleServices;
}

export const consoleAssets = createAssets(`${consoleHome}/assets`, {
  styles: [
    new URL('../pages/style.css', import.meta.url),
    new URL('../pages/controls.css', import.meta.url),
    new URL('../pages/ends.css', import.meta.url),
    new URL('../portal/portal.css', import.meta.url),
    new URL('../portal/patterns/patterns.css', import.meta.url),
    new URL('console.css', import.meta.url),
  ],
  scripts: [
    new URL('../portal/passkey.js', import.meta.url),
    new URL('../portal/patterns/patterns.js', import.meta.url),
  ],
});

/** `/operator`: what the people who run the service see and do. Its logins are not those of merchants. */
export async function consolePages(app: FastifyInstance, options: ConsolePagesOptions): Promise<void> {
  const { services } = options;
  consoleAssets.register(app);
  await app.register(
    async (scope) => {
      const context = services.accounts;
      const parts = await preparePortalScope(scope, { ...options, assets: consoleAssets, context, realm: 'operator' });
      registerSignInPages(scope, { ...parts, visitorLimit: new VisitorLimit(context), isSignUpOpen: false });
      registerAccountPages(scope, parts);
      scope.get('/', async (_request, reply) => seeOther(reply, `${consoleHome}/live/home`));
      registerRoutes(scope, { parts, services, base: '' }, installationRoutes);
      registerRoutes(scope, { parts, services, base: ofEnvironment }, environmentRoutes);
    },
    { prefix: consoleHome },
  );
}
