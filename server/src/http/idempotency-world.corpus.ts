import { createContractClient, loadContract } from '../../../test/harness/openapi.ts';
import type { ApiResponse } from '../../../test/harness/api-client.ts';
import { startService, type TestServiceOptions } from '../../../test/harness/service.ts';
import { countRows } from '../../../test/harness/tables.ts';

/** A service with one business, and what the tests of idempotency keys send to it. */
export async function startIdempotencyWorld(options?: TestServiceOptions) {
  const service = await startService(options);
  const business = await service.onboard();
  const api = createContractClient(await loadContract(), service.url, business.test.key);
  let keyCount = 0;
  /** Creates a payment from a body that is sent exactly as it is written. */
  const sendText = (text: string, key: string): Promise<ApiResponse> =>
    api.send('POST', '/v1/payments', {
      body: text,
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
    });
  return {
    service,
    business,
    api,
    newKey: () => {
      keyCount += 1;
      return `key-${keyCount}`;
    },
    sendText,
    pay: (data: object, key: string) => sendText(JSON.stringify({ data }), key),
    countRecords: (merchantId = business.test.merchant.id) =>
      countRows(service, merchantId, 'payment_intents', 'charges', 'events', 'idempotency_keys'),
  };
}

export function isReplay(response: ApiResponse): boolean {
  return response.headers.get('idempotent-replayed') === 'true';
}
