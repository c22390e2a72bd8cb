import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeliverySlots } from './delivery-slots.ts';

const limits = { total: 10, perMerchant: 6, perLane: 4 };
const lane = (merchantId: string, key: string) => ({ merchantId, key: `${merchantId} ${key}` });

describe('delivery slots', () => {
  it('are bounded for a lane, a merchant and the worker', () => {
    const slots = new DeliverySlots(limits);
    assert.equal(slots.reserve(lane('m1', 'a')), 4);
    assert.equal(slots.reserve(lane('m1', 'a')), 0);
    assert.equal(slots.reserve(lane('m1', 'b')), 2);
    assert.equal(slots.reserve(lane('m1', 'c')), 0);
    assert.equal(slots.reserve(lane('m2', 'a')), 4);
    assert.equal(slots.reserve(lane('m3', 'a')), 0);
    slots.release(lane('m1', 'a'), 3);
    assert.equal(slots.reserve(lane('m3', 'a')), 3);
    slots.release(lane('m2', 'a'), 4);
    assert.equal(slots.reserve(lane('m1', 'b')), 2);
    assert.equal(slots.reserve(lane('m1', 'a')), 1);
  });

  it('wake whoever waits when one is released, and nobody who has stopped waiting', async () => {
    const slots = new DeliverySlots(limits);
    slots.reserve(lane('m1', 'a'));
    const ended = new AbortController();
    const woken: string[] = [];
    const waiting = slots.untilReleased(ended.signal).then(() => woken.push('first'));
    const gaveUp = new AbortController();
    const second = slots.untilReleased(gaveUp.signal).then(() => woken.push('second'));
    gaveUp.abort();
    await second;
    assert.deepEqual(woken, ['second']);
    slots.release(lane('m1', 'a'), 0);
    assert.deepEqual(woken, ['second']);
    slots.release(lane('m1', 'a'), 1);
    await waiting;
    assert.deepEqual(woken, ['second', 'first']);
  });
});
