import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventBody } from './envelope.ts';

it('the body holds the stored record without changing a digit', () => {
  const recordText = '{"id":"c1","amount":10.50,"big":9007199254740993,"tiny":1e-7,"name":"Ŋ \\u00e9 🙂","2":1,"1":2}';
  const body = eventBody({
    id: 'e1',
    kind: 'charge.succeeded',
    createdAt: new Date('2026-11-20T12:00:00.007Z'),
    testMode: true,
    sequence: 9_007_199_254_740_993n,
    requestId: 'req_Ab1',
    recordText,
  });
  assert.equal(
    body.toString(),
    '{"id":"e1","event":"charge.succeeded","created_at":"2026-11-20T12:00:00.007Z","test_mode":true,' +
      `"sequence":9007199254740993,"request_id":"req_Ab1","data":${recordText},"payload":${recordText}}`,
  );
  assert.deepEqual(Object.keys(JSON.parse(body.toString())), [
    ...['id', 'event', 'created_at', 'test_mode', 'sequence', 'request_id', 'data', 'payload'],
  ]);
});
