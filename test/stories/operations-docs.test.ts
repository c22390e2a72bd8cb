import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startService } from '../harness/service.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');

// What only the operator's own tools ask for, and what a browser asks for by itself.
const inside = ['', 'favicon.ico', 'healthz', 'metrics', 'readyz'];

// The addresses of a chat channel are there when it is set up.
const chatChannel = { TELEGRAM_BOT_TOKEN: '123456:abc', TELEGRAM_WEBHOOK_SECRET: 'secret' };

test('the page for operators names everything that a proxy has to let through', async () => {
  const service = await startService({ settings: chatChannel });
  const routes = service.app.server.printRoutes({ commonPrefix: false });
  await service.stop();
  // Below the root, a line for each first part of an address.
  const served = new Set([...routes.matchAll(/^ {4}[├└]── ([^/ ]*)/gm)].map(([, part = '']) => part));
  assert.ok(served.has('v1') && served.has('healthz'), routes);
  const [, named = ''] = /Let it answer the outside world for ([^.]*(?:\.json[^.]*)?)\./.exec(page) ?? [];
  const outside = [...named.matchAll(/`\/([^`]+)`/g)].map(([, part = '']) => part);
  assert.deepEqual(outside.toSorted(), [...served].filter((part) => !inside.includes(part)).toSorted());
});
