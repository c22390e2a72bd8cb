import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { loadTemplates } from './load-templates.ts';
import { matchMessage, type Receipt } from './match-message.ts';
import { readTemplates } from './read-templates.ts';

const templates = loadTemplates(null);

function read(text: string, changes: { network?: string; sender?: string | null } = {}): Receipt | undefined {
  return matchMessage(templates, { network: 'wave', sender: null, text, ...changes });
}

const message = 'You received D450.00 from Awa Ceesay (7001234). Transaction ID: T_QK7H2M4P. New balance: D12,380.50.';

test('a message is read to the butut, with its payer and the balance after it', () => {
  const receipt = read(message);
  assert.ok(receipt);
  const { template, transactionId, amountMinor, payerNumber, payerName, balanceMinor } = receipt;
  assert.deepEqual(
    [template.name, transactionId, amountMinor, payerNumber, payerName, balanceMinor],
    ['wave-received', 'T_QK7H2M4P', 45_000n, '7001234', 'Awa Ceesay', 1_238_050n],
  );
});

test('white space and case may change on the way, and the transaction id keeps its own', () => {
  const changed = `  ${message.toUpperCase().replaceAll(' ', '\u00a0 ')}\n`;
  assert.equal(read(changed)?.transactionId, 'T_QK7H2M4P');
  assert.equal(read(message.replace('T_QK7H2M4P', 't_qk7H2m4p'))?.transactionId, 't_qk7H2m4p');
});

test('only the network’s own message, whole and from its sender, is a receipt', () => {
  const refused: Record<string, Receipt | undefined> = {
    'another network': read(message, { network: 'aps' }),
    'another sender': read(message, { sender: '7001234' }),
    'text before it': read(`Fwd: ${message}`),
    'text after it': read(`${message} Reply STOP`),
    'a part of it': read(message.slice(0, 60)),
    'no amount': read(message.replace('450.00', '')),
    'an amount of nothing': read(message.replace('450.00', '0.00')),
    'three decimals': read(message.replace('450.00', '450.005')),
    'a broken group': read(message.replace('450.00', '4,50.00')),
    'money sent': read(message.replace('You received', 'You sent')),
    'a control character in the id': read(message.replace('T_QK7H2M4P', 'T_QK\u00007H2M')),
    'too long an id': read(message.replace('T_QK7H2M4P', 'T'.repeat(20_000))),
  };
  for (const [why, receipt] of Object.entries(refused)) assert.equal(receipt, undefined, why);
  assert.ok(read(message, { sender: ' wave ' }), 'the sender’s name in any case');
});

test('no message makes reading throw, or takes long', () => {
  const worst = `You received D1 from ${'a '.repeat(700)}(`;
  const startedAt = process.hrtime.bigint();
  for (let time = 0; time < 50; time += 1) read(worst);
  assert.ok(process.hrtime.bigint() - startedAt < 1_000_000_000n, 'a hostile message reads in milliseconds');
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
      for (const network of ['wave', 'afrimoney', 'qmoney', 'aps']) read(text, { network });
    }),
  );
});

/** A file of one template, or what is wrong with it. */
function problemOf(text: string, example: Record<string, string>): string {
  try {
    const file = {
      network: 'wave',
      senders: ['Wave'],
      confirmed: true,
      templates: [{ name: 'own', text, examples: [example] }],
    };
    readTemplates(file);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

test('a template says what is wrong with it before a message depends on it', () => {
  const example = { message: 'Got D5 ref ABCDE', amount: '5', transaction_id: 'ABCDE' };
  assert.equal(problemOf('Got D{amount} ref {transaction_id}', example), 'none');
  assert.match(problemOf('Got D{amount} ref X', example), /\{transaction_id\} is missing/);
  assert.match(problemOf('Got D{amount} {amount} ref {transaction_id}', example), /\{amount\} stands twice/);
  assert.match(problemOf('Got D{amount} {what} ref {transaction_id}', example), /\{what\} is none of/);
  assert.match(problemOf('{any}{any}{any}D{amount} {transaction_id}', example), /more than 2/);
  assert.match(problemOf('Paid D{amount} ref {transaction_id}', example), /does not match its example/);
  assert.match(
    problemOf('Got D{amount} ref {transaction_id}', { ...example, amount: '6' }),
    /reads amount 5 and not 6/,
  );
  assert.match(
    problemOf('Got (D{amount} ref {transaction_id}', example),
    /does not match its example/,
    'no pattern leaks',
  );
});

test('the operator’s templates go before ours, and a wrong file is named', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dalasi-receipts-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const own = {
    network: 'wave',
    senders: ['Wave'],
    confirmed: true,
    templates: [
      {
        name: 'own',
        text: 'You received D{amount} from {any} Transaction ID: {transaction_id}. New balance: D{balance}.',
        examples: [{ message, amount: '450.00', transaction_id: 'T_QK7H2M4P' }],
      },
    ],
  };
  writeFileSync(join(folder, 'wave.json'), JSON.stringify(own));
  const found = matchMessage(loadTemplates(folder), { network: 'wave', sender: null, text: message });
  assert.equal(found?.template.name, 'own');
  writeFileSync(join(folder, 'wave.json'), '{');
  assert.throws(() => loadTemplates(folder), /RECEIPT_TEMPLATES: .*wave\.json/);
  assert.throws(() => loadTemplates(join(folder, 'nowhere')), /RECEIPT_TEMPLATES/);
});
