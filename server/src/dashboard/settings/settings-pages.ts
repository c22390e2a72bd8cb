import type { DashboardRoute } from '../dashboard-route.ts';
import { businessPages } from './business-page.ts';
import { checkoutSettings } from './checkout-page.ts';
import { limitSettings } from './limits-page.ts';
import { livePages } from './live-pages.ts';
import { payoutSettings } from './payouts-page.ts';
import { settingsOverview } from './settings-overview.ts';

export const settingsPages: readonly DashboardRoute[] = [
  settingsOverview,
  ...businessPages,
  ...checkoutSettings,
  ...payoutSettings,
  ...limitSettings,
  ...livePages,
];
