import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { loadContract } from '../harness/openapi.ts';
import type { Contract } from '../harness/openapi.ts';

let contract: Contract;

before(async () => {
  contract = await loadContract();
});

describe('the scope of a route', () => {
  const idsWith = (scope: string) =>
    contract.operations.filter((one) => one.scope === scope).map(({ operationId }) => operationId);

  it('is payout where money goes out, or its destination is chosen', () => {
    assert.deepEqual(idsWith('payout').toSorted(), [
      'cancelTransfer',
      'createRefund',
      'createSubAccount',
      'createSubAccountPayout',
      'createTransfer',
      'updateSubAccount',
      'waiveSubAccountDebt',
    ]);
  });

  it('is read for every GET and for three POSTs that change nothing, and charge for the rest', () => {
    const reading = contract.operations.filter(({ method }) => method === 'GET').map(({ operationId }) => operationId);
    const posts = ['previewPayment', 'quoteTransferFee', 'verifyPayment'];
    assert.deepEqual(idsWith('read').toSorted(), [...reading, ...posts].toSorted());
    const others = [...idsWith('read'), ...idsWith('payout'), ...idsWith('charge')];
    assert.equal(others.length, contract.operations.length);
  });
});
