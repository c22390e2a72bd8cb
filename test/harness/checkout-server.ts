import fastify, { type FastifyInstance } from 'fastify';
import { systemClock, type Clock } from '../../server/src/kit/clock.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import { checkoutPages, type CheckoutPagesOptions } from '../../server/src/pages/checkout/checkout-pages.ts';
import {
  createCheckoutRenderer,
  type CheckoutRendererOptions,
} from '../../server/src/pages/checkout/checkout-renderer.ts';
import type { StatusRouteOptions } from '../../server/src/pages/checkout/status-route.ts';
import { collectPages } from '../../server/src/pages/collect/collect-pages.ts';
import { logoPages } from '../../server/src/pages/logos/logo-pages.ts';
import { plainPng } from '../../server/src/posters/poster.corpus.ts';
import { homePages } from '../../server/src/pages/home/home-pages.ts';
import { phonePages } from '../../simulator/phone/phone-pages.ts';
import { fixtureTime, checkoutFixtures, largestView } from './checkout-fixtures.ts';
import { collectFixtures, largestCollectFixtures } from './collect-fixtures.ts';
import { FakeCheckout, LocalChangeFeed } from './fake-checkout.ts';
import { fixtureSimulator } from './phone-fixtures.ts';

export interface CheckoutServer extends AsyncDisposable {
  app: FastifyInstance;
  baseUrl: string;
  checkout: FakeCheckout;
  changes: LocalChangeFeed;
}

/**
 * Serves the hosted pages on a real port from payments in memory: one for each fixture, with its name as token. With
 * `largest`, every payment is of 1,000,000.00.
 */
export async function startCheckoutServer(
  options: Partial<StatusRouteOptions & CheckoutRendererOptions & Pick<CheckoutPagesOptions, 'log'>> = {},
  amounts: 'usual' | 'largest' = 'usual',
): Promise<CheckoutServer> {
  const changes = new LocalChangeFeed();
  const checkout = new FakeCheckout(changes);
  for (const [name, view] of Object.entries(checkoutFixtures)) {
    checkout.setSilently(name, amounts === 'largest' ? largestView(view) : view);
  }
  let baseUrl = 'http://127.0.0.1';
  const log = createServiceLog({ level: 'silent' });
  const parts = {
    checkout,
    changes,
    clock: fixtureClock,
    log,
    publicUrl: () => baseUrl,
    formKey: 'a key of the tests',
    networkDetails,
    simulatedPhoneUrl: () => '/simulator/phone',
    ...options,
  };
  const renderer = createCheckoutRenderer(parts);
  const app = fastify();
  await app.register(checkoutPages, { ...parts, renderer });
  await app.register(collectPages, {
    ...parts,
    targets: amounts === 'largest' ? largestCollectFixtures : collectFixtures,
    random: seededRandom('forms'),
    checkoutRenderer: renderer,
  });
  await app.register(logoPages, {
    merchants: { byId: async (id) => ({ id, logoSetAt: fixtureTime }) },
    findLogo: async () => plainPng(40, 40),
    networks: networkDetails,
  });
  await app.register(homePages, { publicUrl: () => baseUrl, offersPhone: true });
  await app.register(phonePages, {
    simulator: fixtureSimulator,
    log: createServiceLog({ level: 'silent' }),
    publicUrl: () => baseUrl,
    formKey: 'a key of the tests',
    phoneAccess: () => ({ allowed: true, account: null }),
  });
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, baseUrl, checkout, changes, [Symbol.asyncDispose]: () => app.close() };
}

const networkDetails = { dialCodes: new Map([['afrimoney', '*777#']]), logos: new Map() };

/** Always shows the fixtures' time; sleeps take real time. */
const fixtureClock: Clock = { now: () => fixtureTime, sleep: systemClock.sleep };
