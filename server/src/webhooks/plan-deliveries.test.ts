import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultEventKinds, eventKinds, type EventKind } from '../events/kinds.ts';
import type { Endpoint } from './endpoint.ts';
import { planDeliveries } from './plan-deliveries.ts';

const someDate = new Date('2026-11-20T12:00:00.000Z');

function endpoint(id: string, chosen: Partial<Endpoint> = {}): Endpoint {
  return {
    merchantId: 'm1',
    id,
    url: `https://${id}.example/hook`,
    description: '',
    kinds: null,
    status: 'enabled',
    disabledReason: null,
    isDefault: false,
    secret: Buffer.alloc(0),
    previousSecret: null,
    previousSecretExpiresAt: null,
    createdAt: someDate,
    updatedAt: someDate,
    ...chosen,
  };
}

const unset = endpoint('default', { isDefault: true, url: null });

function plan(endpoints: Endpoint[], event: { kind?: EventKind; callbackUrl?: string } = {}): string[] {
  const { kind = 'charge.succeeded', callbackUrl = null } = event;
  return planDeliveries({ kind, callbackUrl }, endpoints).map(
    (delivery) => `${delivery.endpointId} ${delivery.callbackUrl ?? 'own'} ${delivery.status}`,
  );
}

describe('the planned deliveries of an event', () => {
  it('include an endpoint with `*` for every kind, beside an endpoint with some kinds', () => {
    const endpoints = [unset, endpoint('all', { kinds: ['*'] }), endpoint('some', { kinds: ['charge.failed'] })];
    for (const kind of eventKinds) {
      const others = kind === 'charge.failed' ? ['some own pending'] : [];
      assert.deepEqual(plan(endpoints, { kind }), ['all own pending', ...others], kind);
    }
  });

  it('are none when no URL is set', () => {
    assert.deepEqual(plan([unset]), []);
  });

  it('include every endpoint that subscribes to the kind, by default to the five of the interface', () => {
    const chosen = endpoint('chosen', { kinds: ['charge.reversed'] });
    for (const kind of eventKinds) {
      const expected = [
        ...(defaultEventKinds.includes(kind) ? ['usual own pending'] : []),
        ...(kind === 'charge.reversed' ? ['chosen own pending'] : []),
      ];
      assert.deepEqual(plan([unset, endpoint('usual'), chosen], { kind }), expected, kind);
    }
  });

  it('are kept for a disabled endpoint', () => {
    const off = endpoint('off', { status: 'disabled' });
    assert.deepEqual(plan([unset, off, endpoint('on')]), ['off own kept', 'on own pending']);
  });

  it('include the record’s callback URL, for every kind, signed by the default endpoint', () => {
    const callbackUrl = 'https://order.example/1';
    assert.deepEqual(plan([unset], { callbackUrl }), [`default ${callbackUrl} pending`]);
    assert.deepEqual(plan([unset, endpoint('a')], { callbackUrl, kind: 'charge.reversed' }), [
      `default ${callbackUrl} pending`,
    ]);
    const off = endpoint('default', { isDefault: true, status: 'disabled' });
    assert.deepEqual(plan([off], { callbackUrl }), ['default own kept', `default ${callbackUrl} pending`]);
  });

  it('include one URL once, however it is written', () => {
    const shop = endpoint('a', { url: 'https://shop.example' });
    for (const callbackUrl of ['https://shop.example', 'https://shop.example/', 'HTTPS://Shop.Example:443/']) {
      assert.deepEqual(plan([unset, shop], { callbackUrl }), ['a own pending'], callbackUrl);
    }
    assert.deepEqual(plan([unset, shop], { callbackUrl: 'https://shop.example/other' }), [
      'a own pending',
      'default https://shop.example/other pending',
    ]);
  });

  it('include the callback URL when the endpoint there does not subscribe to the kind', () => {
    const shop = endpoint('a', { kinds: ['charge.failed'] });
    assert.deepEqual(plan([unset, shop], { callbackUrl: 'https://a.example/hook' }), [
      'default https://a.example/hook pending',
    ]);
  });

  it('include the callback URL when the endpoint there is disabled, where the event is kept for it', () => {
    const off = endpoint('a', { status: 'disabled' });
    assert.deepEqual(plan([unset, off], { callbackUrl: 'https://a.example/hook' }), [
      'a own kept',
      'default https://a.example/hook pending',
    ]);
  });

  it('include a callback URL that is not HTTP, which fails when it is called', () => {
    assert.deepEqual(plan([unset, endpoint('a')], { callbackUrl: 'shop://done' }), [
      'a own pending',
      'default shop://done pending',
    ]);
  });
});
