import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../kit/strict-json.ts';
import type { CollectionResponse } from '../contract.ts';
import type { Reply } from '../http-client.ts';
import { foundBySearch } from '../response-values.ts';
import { sessionNotification, sessionResponse, startResponse } from './translate.ts';

const reference = 'Shop1234reference';

const open = {
  id: 'Shop1234session',
  network: 'aps',
  reference,
  status: 'open',
  amount: '100.00',
  currency: 'GMD',
  paid: null,
  payer_number: null,
  failure_code: null,
  action: { type: 'approve_on_phone' },
};
const paid = { gross_amount: '100.50', fee: '1.25', currency: 'GMD', transaction_id: 'T1' };
const complete = { ...open, status: 'complete', action: null, paid };

function responded(status: number, body: JsonValue | undefined): Reply {
  return { kind: 'response', status, body };
}

/** The response in one word, with the failure where it is final. */
function outcome(response: CollectionResponse): string {
  return response.state === 'refused' ? response.failure.code : response.state;
}

const sessionOutcomes: [string, JsonValue, string][] = [
  ['open', open, 'awaiting_payer'],
  ['complete', complete, 'succeeded'],
  ['reversed', { ...complete, status: 'reversed' }, 'reversed'],
  ['expired', { ...open, status: 'expired' }, 'expired'],
  ['cancelled', { ...open, status: 'cancelled' }, 'cancelled'],
  ['payer_declined', { ...open, status: 'failed', failure_code: 'payer_declined' }, 'declined_by_payer'],
  ['balance_too_low', { ...open, status: 'failed', failure_code: 'balance_too_low' }, 'insufficient_funds'],
  ['wrong_code', { ...open, status: 'failed', failure_code: 'wrong_code' }, 'code_wrong'],
  ['not_permitted', { ...open, status: 'failed', failure_code: 'not_permitted' }, 'refused_by_network'],
  ['a failure code that is not documented', { ...open, status: 'failed', failure_code: 'tired' }, 'unknown'],
  ['a failure without a code', { ...open, status: 'failed' }, 'unknown'],
  ['a status that is not documented', { ...open, status: 'on_hold' }, 'unknown'],
  ['a status of another kind', { ...open, status: 1 }, 'unknown'],
  ['success without what was paid', { ...complete, paid: null }, 'unknown'],
  ['success without a transaction id', { ...complete, paid: { ...paid, transaction_id: '' } }, 'unknown'],
  ['success with a number for an amount', { ...complete, paid: { ...paid, gross_amount: 100.5 } }, 'unknown'],
  ['success with three decimals', { ...complete, paid: { ...paid, gross_amount: '100.505' } }, 'unknown'],
  ['success with a negative amount', { ...complete, paid: { ...paid, gross_amount: '-1.00' } }, 'unknown'],
  ['success with an unreadable fee', { ...complete, paid: { ...paid, fee: 'none' } }, 'unknown'],
  ['an action that is not documented', { ...open, action: { type: 'sing' } }, 'unknown'],
  ['open without an action', { ...open, action: null }, 'unknown'],
  ['a link that is a script', { ...open, action: { type: 'open_url', url: 'javascript:alert(1)' } }, 'unknown'],
  ['another reference', { ...complete, reference: 'Shop1234other' }, 'unknown'],
  ['a session without an id', { ...complete, id: null }, 'unknown'],
  ['a list', [], 'unknown'],
  ['null', null, 'unknown'],
  ['an empty object', {}, 'unknown'],
];

for (const [name, session, expected] of sessionOutcomes) {
  test(`a session with ${name} is ${expected}, whichever call reports it`, () => {
    assert.equal(outcome(startResponse(responded(200, session), reference)), expected);
    assert.equal(outcome(sessionResponse(responded(200, session), reference)), expected);
    assert.equal(outcome(sessionResponse(foundBySearch(responded(200, { result: [session] })), reference)), expected);
  });
}

const replies: [string, Reply, { start: string; later: string }][] = [
  ['503 not_accepted', responded(503, { code: 'not_accepted' }), { start: 'network_unavailable', later: 'unknown' }],
  ['503 of another service', responded(503, { code: 'unavailable' }), { start: 'unknown', later: 'unknown' }],
  ['503 without a body', responded(503, undefined), { start: 'unknown', later: 'unknown' }],
  ['500', responded(500, { code: 'internal_error' }), { start: 'unknown', later: 'unknown' }],
  ['502', responded(502, undefined), { start: 'unknown', later: 'unknown' }],
  ['400', responded(400, { code: 'invalid_request' }), { start: 'refused_by_network', later: 'unknown' }],
  ['400 of another service', responded(400, { error: 'bad' }), { start: 'unknown', later: 'unknown' }],
  ['401', responded(401, { code: 'invalid_credential' }), { start: 'network_unavailable', later: 'unknown' }],
  ['401 of a proxy', responded(401, undefined), { start: 'unknown', later: 'unknown' }],
  ['404 not_found', responded(404, { code: 'not_found' }), { start: 'unknown', later: 'not_found' }],
  ['404 of another service', responded(404, undefined), { start: 'unknown', later: 'unknown' }],
  ['409', responded(409, { code: 'reference_conflict' }), { start: 'unknown', later: 'unknown' }],
  ['422', responded(422, { code: 'wrong_code', attempts_left: 2 }), { start: 'unknown', later: 'code_refused' }],
  ['422 without attempts', responded(422, { code: 'wrong_code' }), { start: 'unknown', later: 'unknown' }],
  ['429', responded(429, undefined), { start: 'unknown', later: 'unknown' }],
  ['201', responded(201, complete), { start: 'unknown', later: 'unknown' }],
  ['302', responded(302, undefined), { start: 'unknown', later: 'unknown' }],
  ['200 that is not JSON', responded(200, undefined), { start: 'unknown', later: 'unknown' }],
  ['a request that was not sent', { kind: 'not_sent', detail: '' }, { start: 'network_unavailable', later: 'unknown' }],
  ['no response', { kind: 'lost', detail: '' }, { start: 'unknown', later: 'unknown' }],
];

for (const [name, reply, expected] of replies) {
  test(`${name} means ${expected.start} for a start and ${expected.later} for a later call`, () => {
    assert.equal(outcome(startResponse(reply, reference)), expected.start);
    assert.equal(outcome(sessionResponse(reply, reference)), expected.later);
    assert.equal(outcome(sessionResponse(foundBySearch(reply), reference)), expected.later);
  });
}

test('a search that finds nothing is not found, and one that finds two is not understood', () => {
  assert.equal(outcome(sessionResponse(foundBySearch(responded(200, { result: [] })), reference)), 'not_found');
  assert.equal(outcome(sessionResponse(foundBySearch(responded(200, { result: [open, open] })), reference)), 'unknown');
  assert.equal(outcome(sessionResponse(foundBySearch(responded(200, { results: [open] })), reference)), 'unknown');
});

test('a provider transaction carries gross and fee to the butut, and the handles name the session', () => {
  const response = sessionResponse(responded(200, complete), reference);
  assert.ok(response.state === 'succeeded');
  assert.equal(response.providerTransaction.amountMinor, 10_050n);
  assert.equal(response.providerTransaction.networkFeeMinor, 125n);
  const waiting = startResponse(responded(200, open), reference);
  assert.ok(waiting.state === 'awaiting_payer');
  assert.deepEqual(waiting.handles, { session_id: 'Shop1234session' });
});

test('the detail of an unknown response holds no numbers and no secrets', () => {
  const secretive = { ...open, status: 'payer +2207012345 sent wh_secret' };
  assert.deepEqual(sessionResponse(responded(200, secretive), reference), {
    state: 'unknown',
    detail: 'the status is not known',
  });
  assert.deepEqual(sessionResponse(responded(200, { ...open, status: 'on_hold' }), reference), {
    state: 'unknown',
    detail: 'the status on_hold is not known',
  });
});

test('random responses never succeed without a provider transaction or refuse without a documented code', () => {
  const bodies = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom(...Object.keys(open)), fc.jsonValue()).map((fields) => ({ ...complete, ...fields })),
  );
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), bodies, (status, body) => {
      const response = startResponse(responded(status, body as JsonValue), reference);
      if (response.state === 'succeeded') assert.equal(typeof response.providerTransaction.amountMinor, 'bigint');
      if (response.state === 'refused') assert.ok([200, 400, 401, 503].includes(status));
      const notification = sessionNotification(body);
      if (notification) assert.equal(typeof notification.reference, 'string');
    }),
    { numRuns: 2_000 },
  );
});
