import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPaymentWorld, type PaymentWorld } from '../payments/payment-world.corpus.ts';
import type { Random } from '../kit/random.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { createTerminal, deleteTerminal } from './manage-terminals.ts';
import { findTerminalByAddress, findTerminalByCode } from './find-by-code.ts';
import type { TerminalContext, VirtualTerminal } from './terminal.ts';
import { terminalCheck } from './terminal-address.ts';

let world: PaymentWorld;
let context: TerminalContext;

before(async () => {
  world = await createPaymentWorld();
  context = { ...world.context, chatDelivery: async () => new Map() };
});
after(() => world.close());

function create(random: Random = world.context.random, merchant: Merchant = world.merchant): Promise<VirtualTerminal> {
  const caller = { merchantId: merchant.id, testMode: true };
  const request = { name: 'Till 1', chatNumbers: ['7012345'] };
  return world.db.withTransaction((tx) => createTerminal(tx, { ...context, random }, caller, request));
}

/** Draws these numbers in order, then repeats the last one. */
function drawing(...numbers: number[]): Random {
  let drawn = 0;
  return {
    bytes: (count) => {
      const bytes = Buffer.alloc(count);
      bytes.writeUInt32BE(numbers[Math.min(drawn, numbers.length - 1)] ?? 0);
      drawn += 1;
      return bytes;
    },
  };
}

test('a code has seven digits and does not begin with 0', async () => {
  assert.equal((await create(drawing(0))).code, '1000000');
  assert.equal((await create(drawing(8_999_999))).code, '9999999');
  // A draw above the largest multiple of the number of codes is rejected.
  assert.equal((await create(drawing(0xffff_ffff, 2_345_678))).code, '3345678');
  for (let round = 0; round < 20; round += 1) assert.match((await create()).code, /^[1-9]\d{6}$/);
});

test('of concurrent terminals that draw one code, also of other merchants, one gets it', async () => {
  const stranger = await world.newMerchant();
  await world.openConnections();
  for (let round = 0; round < 5; round += 1) {
    const [same, next] = [100_000 + round, 200_000 + 10 * round];
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        create(drawing(same, next + index), index % 2 === 0 ? world.merchant : stranger),
      ),
    );
    const codes = made.map(({ code }) => code);
    assert.equal(new Set(codes).size, 8, codes.join(' '));
    assert.equal(codes.filter((code) => code === String(1_000_000 + same)).length, 1, codes.join(' '));
    for (const terminal of made) {
      assert.deepEqual(await findTerminalByCode(world.db, terminal.code), terminal);
    }
  }
});

test('the code of a deleted terminal is never reused and still finds the deleted terminal', async () => {
  const terminal = await create(drawing(300_000));
  await world.db.withTransaction((tx) => deleteTerminal(tx, context.clock, terminal));
  const next = await create(drawing(300_000, 300_001));
  assert.equal(next.code, '1300001');
  const found = await findTerminalByCode(world.db, terminal.code);
  assert.deepEqual([found?.id, found?.deletedAt], [terminal.id, world.clock.now()]);
});

test('if every drawn code is in use, nothing is stored', async () => {
  await create(drawing(400_000));
  const count = () => world.asOwner('SELECT count(*) FROM virtual_terminals');
  const before = await count();
  await assert.rejects(create(drawing(400_000)), /used up/);
  assert.deepEqual(Reflect.get(Object(await count()), 'rows'), Reflect.get(Object(before), 'rows'));
});

test('a right check confirms the terminal, a missing one does not, and a wrong one finds nothing', async () => {
  const { terminalKey } = context.settings;
  const terminal = await create();
  const { code } = terminal;
  const check = terminalCheck(terminalKey, code);
  const find = (text: string, key = terminalKey) => findTerminalByAddress(world.db, key, text, (look) => look());
  assert.deepEqual(await find(`${code}-${check}`), { terminal, confirmed: true });
  assert.deepEqual(await find(`${code}-${check.toLowerCase()}`), { terminal, confirmed: true });
  // The address without its check, or with only the hyphen before it, is that of somebody who typed it.
  for (const typed of [code, `${code}-`]) assert.deepEqual(await find(typed), { terminal, confirmed: false });
  const other = terminalCheck(terminalKey, '9999998');
  for (const text of [`${code}-${other}`, `${code}-${check}0`, '9999998', `9999998-${other}`, 'nonsense']) {
    assert.equal(await find(text), undefined, text);
  }
  assert.equal(await find(`${code}-${check}`, 'the key of another installation'), undefined);
});
