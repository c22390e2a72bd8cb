import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keyScopes } from '../../server/src/api/key-scope.ts';
import { call, type OwnRecords } from '../harness/api-examples.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { createContractClient, loadContract, type Contract } from '../harness/openapi.ts';
import { createOwnRecords } from '../harness/own-records.ts';
import { startService, type TestMerchant, type TestService } from '../harness/service.ts';
import { dumpTables } from '../harness/tables.ts';

let service: TestService;
let contract: Contract;
let merchant: TestMerchant;
let own: OwnRecords;

before(async () => {
  // With time standing still, no chore changes a table.
  service = await startService({ clock: new ManualClock() });
  contract = await loadContract();
  merchant = (await service.onboard()).test;
  own = await createOwnRecords(createContractClient(contract, service.url, merchant.key));
  await service.app.drain();
});
after(() => service.stop());

function idsWith(scope: string): string[] {
  const found = contract.operations.filter((operation) => operation.scope === scope);
  return found.map(({ operationId }) => operationId).toSorted();
}

describe('the scope of a route', () => {
  it('is payout where money goes out, or its destination is chosen', () => {
    assert.deepEqual(idsWith('payout'), [
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
    const gets = contract.operations.filter(({ method }) => method === 'GET').map(({ operationId }) => operationId);
    assert.deepEqual(idsWith('read'), [...gets, 'previewPayment', 'quoteTransferFee', 'verifyPayment'].toSorted());
    assert.equal(keyScopes.flatMap(idsWith).length, contract.operations.length);
  });
});

describe('a key with one scope', () => {
  const clients = new Map<string, ReturnType<typeof createContractClient>>();

  before(async () => {
    for (const scope of keyScopes) {
      const key = await service.newKey(merchant.merchant, [scope]);
      const client = createContractClient(contract, service.url, key);
      // The first use from an address is recorded.
      await client.get('/v1/balances');
      clients.set(scope, client);
    }
  });

  /** The responses to every operation, with the key of its scope or with the other keys. */
  async function callAll({ withScope }: { withScope: boolean }): Promise<Map<string, unknown>> {
    const responses = new Map<string, unknown>();
    for (const operation of contract.operations) {
      for (const [scope, client] of clients) {
        if ((scope === operation.scope) !== withScope) continue;
        const { status, body } = await call(client, operation, own);
        responses.set(`${operation.operationId} with ${scope}`, `${status} ${String(body['code'])}`);
      }
    }
    return responses;
  }

  it('is refused by every route of another scope, and changes nothing', async () => {
    const before = await dumpTables(service);
    const responses = await callAll({ withScope: false });
    assert.equal(responses.size, 2 * contract.operations.length);
    for (const [called, response] of responses) assert.equal(response, '403 scope_missing', called);
    assert.deepEqual(await dumpTables(service), before);
  });

  it('is served by every route of its scope', async () => {
    const responses = await callAll({ withScope: true });
    assert.equal(responses.size, contract.operations.length);
    // What one request has ended is not found by the next.
    for (const [called, response] of responses) assert.doesNotMatch(String(response), /^(401|403|5)/, called);
  });
});
