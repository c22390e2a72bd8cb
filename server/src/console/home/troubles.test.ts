import assert from 'node:assert/strict';
import { it } from 'node:test';
import { html, renderHtml } from '../../kit/html.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { RailAccount } from '../../rail-accounts/rail-account.ts';
import type { ReconciledDay } from '../../reconciliation/reconciled-day.ts';
import type { NetworkHealth } from '../../reports/network-health.ts';
import { troublesOf, type Watched } from './troubles.ts';

const now = new Date('2026-11-20T12:00:00Z');
const minutesAgo = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000);
const merchant = { id: 'm-1', name: 'Kairaba Books', businessId: 'b-1' } as Merchant;

function watched(part: Partial<Watched>): Watched {
  const nothing = {
    networks: [],
    queues: [],
    cases: [],
    owed: [],
    verified: undefined,
    restore: undefined,
    backups: [],
    phones: [],
    accounts: [],
    days: [],
    clearing: [],
    unfinished: [],
  };
  return { now, base: '/operator/live', merchants: new Map([[merchant.id, merchant]]), ...nothing, ...part };
}

/** A network with one open breaker, and payouts that wait for it. */
function paused(breaker: {
  reason: 'float_empty' | 'network_unavailable';
  minutes: number;
  testMode?: boolean;
  merchantId?: string;
}): NetworkHealth {
  const { reason, minutes, testMode = false, merchantId = null } = breaker;
  const wave = {
    ...{ network: 'wave', displayName: 'Wave', operator: null, merchantId: null, callTimeoutMs: 0 },
    railAccount: 'wave-test',
  };
  const open = { state: 'open' as const, reason, openedAt: minutesAgo(minutes), retryAt: minutesAgo(-5) };
  const counts = { failedTrials: 1n, failuresInARow: 0n, failedMerchants: [], version: 1n };
  return {
    ...{ capabilities: { ...wave, testMode }, paysOut: true, floatMinor: 0n },
    attempts: { paidCount: 0, endedCount: 0, hours: 24 },
    breakers: [{ network: 'wave', testMode, railAccount: wave.railAccount, merchantId, ...open, ...counts }],
    waiting: [
      {
        ...{ network: 'wave', railAccount: null, merchantId: merchant.id, count: 14n, heldMinor: 2_240_000n },
        ...{ oldestAt: minutesAgo(minutes), nextTryAt: minutesAgo(-5) },
      },
    ],
  };
}

function debt(amountMinor: bigint, minutes: number): Watched['owed'][number] {
  const account = { merchantId: merchant.id, account: 'receivable_merchant', currency: 'GMD' } as const;
  return { ...account, amountMinor, since: minutesAgo(minutes), kind: 'receivable_merchant' };
}

const queue = (minutes: number) => ({
  ...{ name: 'webhooks', text: 'Webhooks to businesses', dueCount: 41n, laterCount: 0n },
  oldestDueAt: minutesAgo(minutes),
});

it('a network that pays out nothing names why, since when, what waits with its money, and the next try', () => {
  const [trouble] = troublesOf(watched({ networks: [paused({ reason: 'float_empty', minutes: 1 })] }));
  assert.ok(trouble);
  assert.match(renderHtml(trouble.text), /Wave pays out nothing: float empty since .*today 11:59/);
  assert.match(renderHtml(trouble.detail), /14 wait, D22,400\.00; next try .*today 12:05/);
  assert.equal(trouble.href, '/operator/live/networks/wave?account=wave-test');
});

it('a ledger that is wrong comes first, and one that no night has verified is a trouble', () => {
  const verified = (part: { isCorrect: boolean; hours: number }): Watched['verified'] => ({
    ...{ id: 'v-1', scope: 'all merchants', movements: 2n, accounts: 1n, isCorrect: part.isCorrect },
    ...{ verifiedAt: minutesAgo(part.hours * 60), problem: part.isCorrect ? null : 'held is wrong' },
  });
  const owed = [debt(100_000_000n, 1_000 * 60)];
  const [first] = troublesOf(watched({ owed, verified: verified({ isCorrect: false, hours: 1 }) }));
  assert.match(renderHtml(first?.text ?? html``), /^The ledger was wrong at its last verification/);
  const [late, ...others] = troublesOf(watched({ verified: verified({ isCorrect: true, hours: 37 }) }));
  assert.match(renderHtml(late?.text ?? html``), /^The ledger was not verified since/);
  assert.deepEqual(others, []);
  assert.deepEqual(troublesOf(watched({ verified: verified({ isCorrect: true, hours: 35 }) })), []);
});

it('nothing is a trouble before its documented alarm limit, and everything is after it', () => {
  const early = watched({
    networks: [paused({ reason: 'network_unavailable', minutes: 4 })],
    queues: [queue(1)],
    owed: [debt(100n, 23 * 60)],
  });
  assert.deepEqual(troublesOf(early), []);
  const late = watched({
    networks: [paused({ reason: 'network_unavailable', minutes: 6 })],
    queues: [queue(2)],
    owed: [debt(100n, 25 * 60)],
  });
  assert.equal(troublesOf(late).length, 3);
  const ofOne = watched({ networks: [paused({ reason: 'network_unavailable', minutes: 6, merchantId: merchant.id })] });
  assert.match(
    troublesOf(ofOne)
      .map(({ text }) => renderHtml(text))
      .join(' '),
    /pays out nothing of .*Kairaba Books/,
  );
  const ofTesters = watched({ networks: [paused({ reason: 'float_empty', minutes: 60, testMode: true })] });
  assert.deepEqual(troublesOf(ofTesters), []);
});

it('troubles stand by money held times age, after a ledger that is wrong', () => {
  const verified = {
    ...{ id: 'v-1', verifiedAt: minutesAgo(1), scope: 'all merchants', isCorrect: false, movements: 2n, accounts: 2n },
    problem: 'Merchant m-1, account held: too much.',
  };
  const troubles = troublesOf(
    watched({
      verified,
      networks: [paused({ reason: 'float_empty', minutes: 10 })],
      queues: [queue(600)],
      // Less money than waits for Wave, for so much longer that it weighs more.
      owed: [debt(200_000n, 60 * 24 * 30)],
    }),
  );
  const texts = troubles.map(({ text }) => renderHtml(text).replaceAll(/<[^>]*>/g, ''));
  assert.deepEqual(
    texts.map((text) => text.split(/ was wrong| owes| pays|: Web/)[0]),
    ['The ledger', 'Kairaba Books', 'Wave', 'Late'],
  );
});

it('a restored copy that nobody has released comes first, and an old backup is a trouble', () => {
  const restore = { id: 'r-1', backup: 'b-1', restoredAt: minutesAgo(5), restoredTo: minutesAgo(6) };
  const remedy = 'npm run operator -- backup create';
  const backups = [{ text: 'No backup was made since yesterday', remedy, since: minutesAgo(60 * 48) }];
  const texts = troublesOf(watched({ restore, backups })).map(({ text }) => renderHtml(text));
  assert.match(texts[0] ?? '', /^This database is a restored copy \(its newest change is of 2026-11-20T11:54/);
  assert.deepEqual(texts.slice(1), ['No backup was made since yesterday']);
});

it('a shop’s phone that is silent and a missing message each need a person', () => {
  const phone = { ...{ merchantId: merchant.id, railAccount: 'kairaba-wave' }, pingedAt: null };
  const active = { ...phone, seenAt: minutesAgo(30), messageAt: minutesAgo(30) };
  const status = { railAccount: 'kairaba-wave', phone: active, silence: null, gaps: 0n };
  assert.deepEqual(troublesOf(watched({ phones: [status] })), []);
  const silence = { since: minutesAgo(30 * 60), reason: 'Its phone forwards nothing.' };
  const [silent, missing] = troublesOf(watched({ phones: [{ ...status, silence, gaps: 2n }] }));
  assert.match(renderHtml(silent?.text ?? html``), /^kairaba-wave: Its phone forwards nothing/);
  assert.match(renderHtml(missing?.text ?? html``), /2 messages of the last two days did not arrive/);
  assert.equal(silent?.href, '/operator/rail-accounts/kairaba-wave');
});

it('live money that an alert rule watches is a trouble on the home page too, and test money is none', () => {
  const clearing = (part: Partial<Watched['clearing'][number]>): Watched['clearing'][number] => ({
    ...{ account: 'suspense', testMode: false, cause: 'unexplained', count: 1, amountMinor: 10_000n, lateMinor: 0n },
    ...{ oldest: minutesAgo(3), ...part },
  });
  const account = (name: string, testMode: boolean, merchantId: string | null = null) =>
    ({
      ...{ name, testMode, merchantId, disabledAt: null },
      ...{ createdAt: minutesAgo(34 * 60), updatedAt: minutesAgo(1) },
    }) as RailAccount;
  const day = { railAccount: 'aps-main', day: '2026-11-19', testMode: false, ranAt: now } as ReconciledDay;
  const textsOf = (part: Partial<Watched>): string[] =>
    troublesOf(watched(part)).map(({ text }) => renderHtml(text).replaceAll(/<[^>]*>/g, ''));
  const explained = [clearing({ cause: 'amount_mismatch', lateMinor: 1n }), clearing({ oldest: minutesAgo(1) })];
  assert.deepEqual(textsOf({ clearing: [...explained, clearing({ testMode: true })] }), []);
  const late = clearing({ account: 'held', cause: 'in_progress', oldest: minutesAgo(5 * 24 * 60), lateMinor: 1n });
  assert.deepEqual(textsOf({ clearing: [clearing({}), late] }), [
    'D100.00 in Held: A payout is under way',
    'D100.00 in Suspense: Nothing explains it',
  ]);
  const accounts = [
    { account: account('wave-main', false), problem: 'Its secrets cannot be opened.' },
    { account: account('aps-main', false), problem: null },
    { account: account('wave-trial', true), problem: null },
  ];
  const ofShops = ['kairaba-wave', 'serrekunda-wave'].map((name) => ({
    ...{ account: account(name, false, merchant.id), problem: null },
  }));
  const shown = textsOf({ accounts: [...accounts, ...ofShops], days: [{ ...day, unexplainedMinor: -250n }] });
  const [first, ...texts] = shown.map((text) => text.replace(/ since .*/, ''));
  assert.equal(first, 'wave-main is not connected: what is paid through it is refused');
  assert.deepEqual(texts, [
    'wave-main has not been reconciled',
    '2 accounts of businesses have not been reconciled',
    'The float at aps-main is not proved: nothing explains -D2.50',
  ]);
  const unfinished = { record: 'transfer', testMode: true, count: 2n, oldestId: 't-1', since: minutesAgo(16) } as const;
  const [stuck] = troublesOf(watched({ unfinished: [unfinished] }));
  assert.match(renderHtml(stuck?.text ?? html``), /^Nothing works on 2 transfers under way, since/);
  assert.equal(stuck?.href, '/operator/live/records/t-1');
});
