import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeliverySlots } from './delivery-slots.ts';

const limits = { total: 20, slow: 6, unproven: 4, perMerchant: 12, perMerchantUnsure: 4 };
const lane = (merchantId: string, key = 'lane') => ({ merchantId, key: `${merchantId} ${key}` });

describe('delivery slots', () => {
  it('are bounded in all, and for a merchant', () => {
    const slots = new DeliverySlots(limits);
    assert.equal(slots.reserve(lane('m1', 'a'), 'quick', 8), 8);
    assert.equal(slots.reserve(lane('m1', 'b'), 'quick', 8), 4);
    assert.equal(slots.reserve(lane('m1', 'c'), 'quick', 8), 0);
    assert.equal(slots.reserve(lane('m2'), 'quick', 10), 8);
    assert.equal(slots.reserve(lane('m3'), 'quick', 1), 0);
    slots.release(lane('m1', 'a'), 'quick', 3);
    assert.equal(slots.reserve(lane('m3'), 'quick', 8), 3);
  });

  it('leave room for lanes that answer, however many are slow or unproven', () => {
    const slots = new DeliverySlots(limits);
    let taken = 0;
    for (let merchant = 0; merchant < 10; merchant += 1) {
      taken += slots.reserve(lane(`slow ${merchant}`), 'slow', 4);
      taken += slots.reserve(lane(`new ${merchant}`), 'unproven', 4);
    }
    assert.equal(taken, limits.slow + limits.unproven);
    assert.equal(slots.reserve(lane('quick'), 'quick', 8), 8);
  });

  it('of one merchant whose lanes hang are few, and none that its other lanes need', () => {
    const slots = new DeliverySlots(limits);
    assert.equal(slots.reserve(lane('m1', 'a'), 'slow', 3), 3);
    assert.equal(slots.reserve(lane('m1', 'b'), 'unproven', 3), 1);
    assert.equal(slots.reserve(lane('m1', 'c'), 'slow', 3), 0);
    assert.equal(slots.reserve(lane('m1', 'd'), 'quick', 8), 8);
    assert.equal(slots.reserve(lane('m2'), 'slow', 4), 3);
  });

  it('that become free go to whoever has waited longest and may have one, one to each', () => {
    const slots = new DeliverySlots(limits);
    const granted: string[] = [];
    const wait = (merchantId: string, standing: 'slow' | 'quick') =>
      slots.wait(lane(merchantId), standing, () => granted.push(merchantId));
    assert.equal(slots.reserve(lane('m1'), 'slow', 4) + slots.reserve(lane('m2'), 'slow', 4), 6);
    wait('m1', 'slow');
    wait('m3', 'slow');
    wait('m4', 'slow');
    wait('m5', 'slow');
    slots.stopWaiting(lane('m4'));
    assert.deepEqual(granted, []);
    slots.release(lane('m2'), 'slow', 1);
    assert.deepEqual(granted, ['m3'], 'the first has as many as a merchant may have');
    assert.equal(slots.reserve(lane('m6'), 'slow', 1), 0, 'nobody gets before those who wait');
    slots.release(lane('m1'), 'slow', 1);
    assert.deepEqual(granted, ['m3', 'm1']);
    slots.release(lane('m1'), 'slow', 4);
    assert.deepEqual(granted, ['m3', 'm1', 'm5']);
    assert.equal(slots.reserve(lane('m6'), 'slow', 4), 3);
  });
});
