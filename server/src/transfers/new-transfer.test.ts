import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createApiClient, type ApiResponse } from '../../../test/harness/api-client.ts';
import { countRows } from '../../../test/harness/tables.ts';
import {
  accepted,
  transferBody,
  refusal,
  send,
  startTransferApi,
  type Shop,
  type TransferApi,
} from './transfer-api.corpus.ts';

let world: TransferApi;

before(async () => {
  world = await startTransferApi();
});
after(() => world.close());

function sendText({ key }: Shop, body: string): Promise<ApiResponse> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  return createApiClient(world.service.url, key).send('POST', '/v1/transfers', { body, headers });
}

describe('a field of a transfer', () => {
  const bad = 'invalid_request';
  const number = 'account_number_invalid';
  const url = 'url_not_allowed';
  const longUrl = `http://shop.example/${'a'.repeat(3_000)}`;
  /** By field: what is sent, and the code of the refusal. `undefined` leaves the field out. */
  const refused: Record<string, [unknown, string][]> = {
    amount: [
      ...['10', '10.00', [10], {}, true, null, undefined, 1.005, 0.001, 1e-7].map((value): [unknown, string] => [
        value,
        bad,
      ]),
      ...[0.99, 1_000_000.01, 1e9].map((value): [unknown, string] => [value, 'amount_out_of_bounds']),
      [-1, bad],
      [-0.01, bad],
      [0, 'amount_out_of_bounds'],
    ],
    currency: [
      ['XOF', 'currency_not_supported'],
      ['gmd', 'currency_not_supported'],
      ['', 'currency_not_supported'],
      ['DALASI', bad],
      [270, bad],
    ],
    network: [
      ['orange', 'network_not_available'],
      ['WAVE', 'network_not_available'],
      ['wallet', 'network_not_available'],
      ['', bad],
      [null, bad],
      [undefined, bad],
      [['aps'], bad],
      ['x'.repeat(33), bad],
    ],
    account_number: [
      ['12345', number],
      ['123456789012', number],
      ['70123456', number],
      ['letters', number],
      ['+1 202 555 0100', number],
      ['   ', number],
      ['', bad],
      [7_001_234, bad],
      [null, bad],
      [undefined, bad],
      ['7'.repeat(33), bad],
    ],
    beneficiary_name: [
      ['', bad],
      ['   ', bad],
      [null, bad],
      [undefined, bad],
      [['Awa'], bad],
      ['A'.repeat(201), bad],
    ],
    narration: [
      ['', bad],
      ['n'.repeat(101), bad],
      [5, bad],
    ],
    callback_url: [
      ['ftp://shop.example/events', url],
      ['http://user:word@shop.example/', url],
      ['shop.example', url],
      ['http://', url],
      ['javascript:alert(1)', url],
      ['file:///etc/passwd', url],
      ['', bad],
      [5, bad],
      [longUrl, bad],
    ],
    metadata: [
      ['text', bad],
      [[], bad],
      [{ ['k'.repeat(41)]: 1 }, bad],
      [{ long: 'v'.repeat(501) }, bad],
      [Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 1])), bad],
    ],
  };

  it('that is missing or malformed is refused by its name; nothing is stored or held', async () => {
    const shop = await world.newShop();
    const before = await world.tracesOf(shop);
    for (const [field, values] of Object.entries(refused)) {
      for (const [value, code] of values) {
        const response = await send(shop.api, { ...transferBody, [field]: value });
        const shown = `${field} ${JSON.stringify(value)?.slice(0, 60) ?? 'missing'}`;
        const [, , path] = refusal(response).split(' ');
        assert.deepEqual([response.status, response.body['code']], [400, code], `${shown} answers ${response.text}`);
        assert.equal(path?.split('.')[0], field, `${shown} answers ${response.text}`);
      }
    }
    const keys = await countRows(world.service, shop.merchant.id, 'idempotency_keys');
    const remembered = refused['network']?.filter(([, code]) => code === 'network_not_available');
    assert.equal(keys.idempotency_keys, remembered?.length, 'of these refusals a key remembers just this one');
    await world.forgetKeys(shop);
    assert.deepEqual(await world.tracesOf(shop), before);
  });

  it('that is not a JSON number, or a body that is not a JSON object, is refused', async () => {
    const shop = await world.newShop();
    const before = await world.tracesOf(shop);
    const texts = ['1e400', '-1e400', 'NaN', 'Infinity', '9007199254740993', '0x10', '010', '1.', '1,000'];
    for (const text of texts) {
      const body = JSON.stringify(transferBody).replace('100', text);
      const response = await sendText(shop, body);
      assert.deepEqual(
        [response.status, response.body['code']],
        [400, 'invalid_json'],
        `${text} answers ${response.text}`,
      );
    }
    for (const body of [
      '',
      '[]',
      'null',
      '"transfer"',
      JSON.stringify([transferBody]),
      JSON.stringify({ data: transferBody }),
    ]) {
      assert.equal((await sendText(shop, body)).status, 400, body);
    }
    const twice = JSON.stringify(transferBody).replace('{', '{"amount":1,');
    assert.equal((await sendText(shop, twice)).body['code'], 'invalid_json', 'an amount that is sent twice');
    assert.deepEqual(await world.tracesOf(shop), before);
  });

  it('that only the service sets is refused by its name', async () => {
    const shop = await world.newShop();
    const before = await world.tracesOf(shop);
    const create = world.contract.operations.find(({ operationId }) => operationId === 'createTransfer');
    const accepts = Object.keys(create?.body?.properties ?? {});
    const returned = Object.keys(create?.responses.get(201)?.schema.properties ?? {});
    const names = returned.filter((name) => !accepts.includes(name));
    for (const name of ['id', 'status', 'fee', 'account_id', 'test_mode', 'createdAt', 'reference']) {
      assert.ok(names.includes(name), name);
    }
    for (const name of [...names, 'merchant_id', 'progress', 'sends', 'amount_minor', 'balance']) {
      const response = await send(shop.api, { ...transferBody, [name]: 'completed' });
      assert.equal(refusal(response), `400 unknown_field ${name}`, response.text);
    }
    assert.deepEqual(await world.tracesOf(shop), before);
  });

  it('that is unknown is refused with the nearest known one', async () => {
    const { api } = await world.newShop();
    const slips = { acount_number: 'account_number', beneficiaryName: 'beneficiary_name', callbackUrl: 'callback_url' };
    for (const [name, nearest] of Object.entries(slips)) {
      const { message } = (await send(api, { ...transferBody, [name]: 'x' })).body;
      assert.equal(message, `${name} is not a known field. Did you mean ${nearest}?`);
    }
  });

  it('is accepted in every usual form, and returned as it was sent', async () => {
    const { api } = await world.newShop();
    const forms = ['7001234', '700 1234', '+220 700 1234', '00220-700-1234', '877001234', '+220877001234'];
    for (const form of forms) {
      const { body } = await send(api, {
        ...transferBody,
        account_number: form,
        amount: 1.5,
        narration: 'Wages 💰 for May',
      });
      const expected = [form, 1.5, 'Wages 💰 for May'];
      assert.deepEqual([body['account_number'], body['amount'], body['narration']], expected);
    }
    const metadata = { 'ключ ŋ': '\u202e', list: [0.1, 1e20, null, { deep: '\u2028' }] };
    const id = await accepted(api, { beneficiary_name: 'Ŋañ <b>&amp;</b>', metadata, currency: 'GMD' });
    const { body } = await api.get(`/v1/transfers/${id}`);
    assert.deepEqual([body['beneficiary_name'], body['metadata']], ['Ŋañ <b>&amp;</b>', metadata]);
  });
});
