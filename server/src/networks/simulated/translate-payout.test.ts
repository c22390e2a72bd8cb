import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../kit/strict-json.ts';
import type { PayoutResponse } from '../contract.ts';
import type { Reply } from '../http-client.ts';
import { foundBySearch } from '../response-values.ts';
import { payoutLookUpResponse, payoutNotification, payoutStartResponse } from './translate-payout.ts';

const reference = 'Shop1234reference';

const pending = {
  id: 'Shop1234payout',
  network: 'aps',
  reference,
  status: 'pending',
  amount: '100.00',
  currency: 'GMD',
  received: null,
  beneficiary_number: '+220877012345',
  beneficiary_name: null,
  failure_code: null,
  created_at: '2026-11-20T12:00:00.000Z',
};
const received = { amount: '100.50', fee: '1.25', currency: 'GMD', transaction_id: 'T1' };
const completed = { ...pending, status: 'completed', received };
const failed = { ...pending, status: 'failed' };

function responded(status: number, body: JsonValue | undefined): Reply {
  return { kind: 'response', status, body };
}

/** The response in one word, with the failure where it is final and the reason where it is not accepted. */
function outcome(response: PayoutResponse): string {
  if (response.state === 'refused') return response.failure.code;
  return response.state === 'not_accepted' ? response.reason : response.state;
}

const payoutOutcomes: [string, JsonValue, string][] = [
  ['the status pending', pending, 'processing'],
  ['the status completed', completed, 'succeeded'],
  ['the status reversed', { ...completed, status: 'reversed' }, 'reversed'],
  ['no_such_account', { ...failed, failure_code: 'no_such_account' }, 'account_not_found'],
  ['account_blocked', { ...failed, failure_code: 'account_blocked' }, 'account_blocked'],
  ['not_permitted', { ...failed, failure_code: 'not_permitted' }, 'refused_by_network'],
  ['a failure code that is not documented', { ...failed, failure_code: 'tired' }, 'unknown'],
  ['a failure code of collections', { ...failed, failure_code: 'payer_declined' }, 'unknown'],
  ['a failure without a code', failed, 'unknown'],
  ['a status that is not documented', { ...pending, status: 'on_hold' }, 'unknown'],
  ['a status in capitals', { ...completed, status: 'COMPLETED' }, 'unknown'],
  ['a status of another kind', { ...pending, status: 1 }, 'unknown'],
  ['success without what was received', { ...completed, received: null }, 'unknown'],
  ['success without a transaction id', { ...completed, received: { ...received, transaction_id: '' } }, 'unknown'],
  ['success with a number for an amount', { ...completed, received: { ...received, amount: 100.5 } }, 'unknown'],
  ['success with three decimals', { ...completed, received: { ...received, amount: '100.505' } }, 'unknown'],
  ['success with a negative amount', { ...completed, received: { ...received, amount: '-1.00' } }, 'unknown'],
  ['success with an unreadable fee', { ...completed, received: { ...received, fee: 'none' } }, 'unknown'],
  ['success without a currency', { ...completed, received: { ...received, currency: null } }, 'unknown'],
  ['another reference', { ...completed, reference: 'Shop1234other' }, 'unknown'],
  ['no id', { ...completed, id: null }, 'unknown'],
  ['nothing but a list', [], 'unknown'],
  ['nothing but null', null, 'unknown'],
  ['nothing in it', {}, 'unknown'],
];

for (const [name, payout, expected] of payoutOutcomes) {
  test(`a payout with ${name} is ${expected}, whichever call reports it`, () => {
    assert.equal(outcome(payoutStartResponse(responded(200, payout), reference)), expected);
    assert.equal(outcome(payoutLookUpResponse(responded(200, payout), reference)), expected);
    assert.equal(
      outcome(payoutLookUpResponse(foundBySearch(responded(200, { result: [payout] })), reference)),
      expected,
    );
  });
}

const down = 'network_unavailable';

const replies: [string, Reply, { start: string; lookUp: string }][] = [
  ['503 not_accepted', responded(503, { code: 'not_accepted' }), { start: down, lookUp: 'unknown' }],
  ['503 of another service', responded(503, { code: 'unavailable' }), { start: 'unknown', lookUp: 'unknown' }],
  ['503 without a body', responded(503, undefined), { start: 'unknown', lookUp: 'unknown' }],
  ['500', responded(500, { code: 'internal_error' }), { start: 'unknown', lookUp: 'unknown' }],
  ['500 that says not_accepted', responded(500, { code: 'not_accepted' }), { start: 'unknown', lookUp: 'unknown' }],
  ['502', responded(502, undefined), { start: 'unknown', lookUp: 'unknown' }],
  ['422 float_empty', responded(422, { code: 'float_empty' }), { start: 'float_empty', lookUp: 'unknown' }],
  ['422 of another kind', responded(422, { code: 'wrong_code' }), { start: 'unknown', lookUp: 'unknown' }],
  ['400', responded(400, { code: 'invalid_request' }), { start: 'refused_by_network', lookUp: 'unknown' }],
  ['400 of another service', responded(400, { error: 'bad' }), { start: 'unknown', lookUp: 'unknown' }],
  ['401', responded(401, { code: 'invalid_credential' }), { start: down, lookUp: 'unknown' }],
  ['401 of a proxy', responded(401, undefined), { start: 'unknown', lookUp: 'unknown' }],
  ['404 not_found', responded(404, { code: 'not_found' }), { start: 'unknown', lookUp: 'not_found' }],
  ['404 of another service', responded(404, undefined), { start: 'unknown', lookUp: 'unknown' }],
  ['409', responded(409, { code: 'reference_conflict' }), { start: 'unknown', lookUp: 'unknown' }],
  ['429', responded(429, undefined), { start: 'unknown', lookUp: 'unknown' }],
  ['201', responded(201, completed), { start: 'unknown', lookUp: 'unknown' }],
  ['302', responded(302, undefined), { start: 'unknown', lookUp: 'unknown' }],
  ['200 that is not JSON', responded(200, undefined), { start: 'unknown', lookUp: 'unknown' }],
  ['a request that was not sent', { kind: 'not_sent', detail: '' }, { start: down, lookUp: 'unknown' }],
  ['no response', { kind: 'lost', detail: '' }, { start: 'unknown', lookUp: 'unknown' }],
];

for (const [name, reply, expected] of replies) {
  test(`${name} means ${expected.start} for a payout and ${expected.lookUp} for a look-up`, () => {
    assert.equal(outcome(payoutStartResponse(reply, reference)), expected.start);
    assert.equal(outcome(payoutLookUpResponse(reply, reference)), expected.lookUp);
    assert.equal(outcome(payoutLookUpResponse(foundBySearch(reply), reference)), expected.lookUp);
  });
}

test('a search that finds nothing is not found, and one that finds two is not understood', () => {
  assert.equal(outcome(payoutLookUpResponse(foundBySearch(responded(200, { result: [] })), reference)), 'not_found');
  assert.equal(
    outcome(payoutLookUpResponse(foundBySearch(responded(200, { result: [completed, completed] })), reference)),
    'unknown',
  );
  assert.equal(outcome(payoutLookUpResponse(foundBySearch(responded(200, { results: [] })), reference)), 'unknown');
});

test('a provider transaction carries amount and fee to the butut, and the handles name the payout', () => {
  assert.deepEqual(payoutLookUpResponse(responded(200, completed), reference), {
    state: 'succeeded',
    providerTransaction: {
      transactionId: 'T1',
      networkReference: 'Shop1234payout',
      amountMinor: 10_050n,
      currency: 'GMD',
      networkFeeMinor: 125n,
    },
  });
  assert.deepEqual(payoutStartResponse(responded(200, pending), reference), {
    state: 'processing',
    networkReference: 'Shop1234payout',
    handles: { payout_id: 'Shop1234payout' },
  });
});

test('the detail of an unknown response holds no numbers and no secrets', () => {
  const secretive = { ...pending, status: 'paid +2207012345 by wh_secret' };
  assert.deepEqual(payoutLookUpResponse(responded(200, secretive), reference), {
    state: 'unknown',
    detail: 'the status is not known',
  });
});

test('random responses move no money without a provider transaction, and no undocumented code is final', () => {
  const bodies = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom(...Object.keys(pending)), fc.jsonValue()).map((some) => ({ ...completed, ...some })),
    fc.record({ code: fc.constantFrom('not_accepted', 'float_empty', 'invalid_request', 'invalid_credential', 'x') }),
  );
  const statuses = fc.oneof(fc.integer({ min: 100, max: 599 }), fc.constantFrom(200, 400, 401, 422, 503));
  fc.assert(
    fc.property(statuses, bodies, (status, body) => {
      const response = payoutStartResponse(responded(status, body as JsonValue), reference);
      if (response.state === 'succeeded' || response.state === 'reversed') {
        assert.equal(status, 200);
        assert.equal(typeof response.providerTransaction.amountMinor, 'bigint');
      }
      if (response.state === 'refused') assert.ok([200, 400].includes(status));
      if (response.state === 'not_accepted') assert.ok([401, 422, 503].includes(status));
      const later = payoutLookUpResponse(responded(status, body as JsonValue), reference);
      assert.ok(later.state !== 'not_accepted');
      if (later.state === 'refused') assert.equal(status, 200);
      const notification = payoutNotification(body);
      if (notification) assert.equal(typeof notification.reference, 'string');
    }),
    { numRuns: 3_000 },
  );
});
