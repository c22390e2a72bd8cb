import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startService } from '../harness/service.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');

// Requests that a browser makes by itself, the root, and /v1/*, which is printed without what stands before the star.
const unnamed = ['', 'favicon.ico', '*'];

// A chat channel has addresses once it is configured.
const chatChannel = { TELEGRAM_BOT_TOKEN: '123456:abc', TELEGRAM_WEBHOOK_SECRET: 'secret' };

test('the page for operators names every address, and which of them a proxy closes to the outside', async () => {
  const service = await startService({ settings: chatChannel });
  const routes = service.app.server.printRoutes({ commonPrefix: false });
  await service.stop();
  // Below the root, a line for each first segment of a path.
  const served = new Set([...routes.matchAll(/^ {4}[├└]── ([^/ ]*)/gm)].map(([, part = '']) => part));
  assert.ok(served.has('v1') && served.has('healthz'), routes);
  for (const part of served) if (!unnamed.includes(part)) assert.ok(page.includes(`/${part}`), `/${part} is not named`);
  const [, named = ''] =
    /answer the outside world with 404 at\s+([^,]*(?:, `[^,]*)?),? which require no authentication/.exec(page) ?? [];
  const closed = [...named.matchAll(/`\/([^`]+)`/g)].map(([, part = '']) => part);
  assert.deepEqual(closed.toSorted(), ['healthz', 'metrics', 'readyz']);
});
