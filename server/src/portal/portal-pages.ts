import type { FastifyInstance } from 'fastify';
import { VisitorLimit } from '../accounts/sign-in.ts';
import { createAssets } from './assets.ts';
import { preparePortalScope, type PortalOptions } from './portal-scope.ts';
import { registerAccountPages } from './sign-in/account-pages.ts';
import { registerInvitationPages } from './sign-in/invitation-pages.ts';
import { registerVisitorPages, type VisitorPagesOptions } from './sign-in/visitor-pages.ts';

export interface PortalPagesOptions
  extends Omit<PortalOptions, 'assets'>, Pick<VisitorPagesOptions, 'isSignUpOpen' | 'createBusiness'> {}

export const portalAssets = createAssets('/dashboard/assets', {
  styles: [
    new URL('../pages/style.css', import.meta.url),
    new URL('../pages/controls.css', import.meta.url),
    new URL('../pages/ends.css', import.meta.url),
    new URL('portal.css', import.meta.url),
  ],
  scripts: ['passkey.js', 'patterns/patterns.js'].map((name) => new URL(name, import.meta.url)),
});

/** `/dashboard`: signing up and in, and what each person manages for themselves. */
export async function portalPages(app: FastifyInstance, options: PortalPagesOptions): Promise<void> {
  portalAssets.register(app);
  await app.register(
    async (scope) => {
      const parts = await preparePortalScope(scope, { ...options, assets: portalAssets });
      const { isSignUpOpen, createBusiness } = options;
      const visitorLimit = new VisitorLimit(options.context);
      const visitors = { ...parts, visitorLimit, isSignUpOpen, createBusiness };
      registerVisitorPages(scope, visitors);
      registerInvitationPages(scope, visitors);
      registerAccountPages(scope, parts);
    },
    { prefix: '/dashboard' },
  );
}
