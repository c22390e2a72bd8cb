import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deleteTerminal } from '../terminals/manage-terminals.ts';
import { terminalCheck } from '../terminals/terminal-address.ts';
import { createCollectWorld, refusalOf, type CollectWorld } from './collect-world.corpus.ts';

let world: CollectWorld;

before(async () => {
  world = await createCollectWorld();
});
after(async () => {
  await world.verify();
  await world.close();
});

test('a terminal payment’s charge record names the terminal, with its details in the metadata', async () => {
  const terminal = await world.newTerminal('Front counter');
  const intent = await world.atCounter(terminal, 4_550n);
  assert.deepEqual([intent.title, intent.source, intent.amountMinor], ['Front counter', 'terminal', 4_550n]);
  assert.deepEqual(await world.events(intent), ['payment_intent.created']);
  const record = await world.record(await world.complete(intent));
  const { code } = terminal;
  assert.equal(record['terminal_id'], terminal.id);
  assert.deepEqual(record['metadata'], {
    qr_code_url: `http://localhost:8080/pos/${code}-${terminalCheck(world.context.settings.terminalKey, code)}`,
    terminal_id: code,
    terminal_name: 'Front counter',
  });
  assert.deepEqual([record['payment_link_id'], record['custom_fields_values']], [null, {}]);
  assert.deepEqual([record['status'], record['amount']], ['completed', 45.5]);
});

test('an inactive terminal accepts no payment until active again, and a deleted one never', async () => {
  const terminal = await world.newTerminal();
  const begun = await world.atCounter(terminal, 500n);
  await world.changeTerminal(terminal, { active: false });
  assert.equal(
    await refusalOf(world.atCounter(terminal, 500n)),
    'state_conflict no field: This counter is not accepting payments. Ask the staff.',
  );
  // Payments that have started can still be paid.
  assert.equal((await world.complete(begun)).status, 'completed');
  await world.changeTerminal(terminal, { active: true });
  await world.atCounter(terminal, 500n);
  await world.db.withTransaction((tx) => deleteTerminal(tx, world.context.clock, terminal));
  assert.equal(
    await refusalOf(world.atCounter(terminal, 500n)),
    'state_conflict no field: This counter no longer exists. Ask the staff for another one.',
  );
});

test('an amount out of bounds is refused at the payer’s field, and nothing is stored', async () => {
  const terminal = await world.newTerminal();
  const count = async () => Reflect.get(Object(await world.asOwner('SELECT count(*) FROM payment_intents')), 'rows');
  const before: unknown = await count();
  for (const amountMinor of [0n, 100_000_001n]) {
    assert.match(await refusalOf(world.atCounter(terminal, amountMinor)), /^amount_out_of_bounds amount: /);
  }
  assert.deepEqual(await count(), before);
});

test('a terminal accepts payments for its own merchant only', async () => {
  const terminal = await world.newTerminal();
  const stranger = await world.newMerchant();
  assert.match(await refusalOf(world.atCounter(terminal, 500n, stranger)), /^not_found /);
});
