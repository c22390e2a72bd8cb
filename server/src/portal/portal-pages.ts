import type { FastifyInstance } from 'fastify';
import { VisitorLimit } from '../accounts/sign-in.ts';
import { portalAssets } from './document.ts';
import { preparePortalScope } from './portal-scope.ts';
import type { PortalOptions } from './portal-scope.ts';
import { registerAccountPages } from './sign-in/account-pages.ts';
import { registerTeamPages } from './sign-in/team-pages.ts';
import { registerVisitorPages } from './sign-in/visitor-pages.ts';
import type { VisitorPagesOptions } from './sign-in/visitor-pages.ts';

export interface PortalPagesOptions
  extends PortalOptions, Pick<VisitorPagesOptions, 'isSignUpOpen' | 'createBusiness'> {}

/** `/dashboard`: signing up and in, and what each person manages for themselves. */
export async function portalPages(app: FastifyInstance, options: PortalPagesOptions): Promise<void> {
  await app.register(portalAssets);
  await app.register(
    async (scope) => {
      const parts = await preparePortalScope(scope, options);
      const { isSignUpOpen, createBusiness } = options;
      const visitorLimit = new VisitorLimit(options.context);
      registerVisitorPages(scope, { ...parts, visitorLimit, isSignUpOpen, createBusiness });
      registerAccountPages(scope, parts);
      registerTeamPages(scope, parts);
    },
    { prefix: '/dashboard' },
  );
}
