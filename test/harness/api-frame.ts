import { registerApi } from '../../server/src/http/api-routes.ts';
import { createMetrics } from '../../server/src/http/metrics.ts';
import { KeylessLimit } from '../../server/src/http/keyless-limit.ts';
import { RateLimiter } from '../../server/src/http/rate-limit.ts';
import { createServer } from '../../server/src/http/server.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { bindRoutes, type ApiRoute } from '../../server/src/api/route.ts';
import { SharedCommits } from '../../server/src/kit/shared-commits.ts';
import { createMerchantLimiters, createPayoutPace } from '../../server/src/http/merchant-limiters.ts';
import { createKeyAuthenticator } from '../../server/src/merchants/authenticate-key.ts';
import { RequestLog } from '../../server/src/request-log/request-log.ts';
import { KeyAddresses } from '../../server/src/merchants/key-addresses.ts';
import { KeyUses } from '../../server/src/merchants/key-uses.ts';
import type { TestService } from './service.ts';

/** Serves routes of the test behind the API's authentication, limits and errors, on a service's database and keys. */
export async function serveRoutes(service: TestService, routes: readonly ApiRoute<undefined>[]) {
  const { db, clock, secrets, logLines } = service;
  const log = createServiceLog({ level: 'debug', write: (line) => logLines.push(line) });
  const docsUrl = () => service.url;
  const newId = () => uuidV7(clock, systemRandom);
  const server = createServer({ clock, random: systemRandom, log, metrics: createMetrics(), docsUrl });
  await server.register(async (api) =>
    registerApi(api, {
      db,
      commits: new SharedCommits(db, { aloneMax: 5 }),
      clock,
      log,
      docsUrl,
      limiters: createMerchantLimiters(10, createPayoutPace(clock)),
      sealer: secrets.sealer,
      authenticator: createKeyAuthenticator(db, clock, secrets.pepper),
      keyUses: new KeyUses(db),
      keyAddresses: new KeyAddresses({ db, clock, newId }),
      newId,
      requestLog: new RequestLog({ db, clock, newId, observeDropped: () => {} }),
      rateLimiter: new RateLimiter(db, clock, {
        liveRequestsPerSecond: 0,
        testRequestsPerSecond: 0,
        keyPercent: 100,
      }),
      keylessLimit: new KeylessLimit(clock, 0),
      routes: bindRoutes(routes, undefined),
    }),
  );
  const listening = await server.listen({ port: 0, host: '127.0.0.1' });
  return { url: `http://localhost:${new URL(listening).port}`, close: () => server.close() };
}
