import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RouteMethods } from './route-methods.ts';

const routes = new RouteMethods();
routes.add({ url: '/', method: ['GET'] });
routes.add({ url: '/pay/:token', method: 'GET', prefix: '/pay' });
routes.add({ url: '/pay/:token', method: ['POST'], prefix: '/pay' });
routes.add({ url: '/pay/:token/code', method: 'POST', prefix: '/pay' });
routes.add({ url: '/pay/all', method: 'DELETE', prefix: '/pay' });
routes.add({ url: '/pos', method: 'GET', prefix: '/pos' });
routes.add({ url: '/dashboard/:environment(test|live)/:merchant', method: 'POST' });

for (const [url, methods] of [
  ['/', ['GET', 'HEAD']],
  ['/?a=/pay/x', ['GET', 'HEAD']],
  ['/pay/x', ['GET', 'HEAD', 'POST']],
  ['/pay/x?code=1', ['GET', 'HEAD', 'POST']],
  ['/pay/all', ['DELETE', 'GET', 'HEAD', 'POST']],
  ['/pay/x/code', ['POST']],
  ['/pos', ['GET', 'HEAD']],
  ['/pos/', ['GET', 'HEAD']],
  ['/pay/', []],
  ['/pay', []],
  ['/pay/x/', []],
  ['//pay/x', []],
  ['/pay/x/other', []],
  ['/dashboard/test/x', ['POST']],
  ['/dashboard/live/x', ['POST']],
  ['/dashboard/live/', []],
  ['/dashboard/tes/x', []],
] as const) {
  test(`${url} accepts ${methods.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(routes.at(url), methods);
  });
}
