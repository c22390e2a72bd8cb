import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { formatAmount, parseHundredths } from '../kit/money.ts';
import { percentOf } from '../api/field-values.ts';
import { checkPercentages } from './group-members.ts';
import { explainShare, type ShareExplanation } from './share-explanation.ts';
import { shareBase, splitShares } from './shares.ts';

// The tables of docs/splits.md, which were worked out by another program than ours, and in part by hand.
const page = readFileSync(join(import.meta.dirname, '../../../docs/splits.md'), 'utf8');

function rowsOf(section: string): string[][] {
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

const [intro = '', examples = ''] = (page.split('\n## Refunds')[0] ?? '').split('\n## Worked examples');
const rows = rowsOf(examples).filter(([number]) => /^\d+$/.test(number ?? ''));
const sentences = rowsOf(intro).filter(([base]) => /^\d/.test(base ?? ''));

/** `3 × 33.33, 1` are four entries. */
function entriesOf(cell: string): string[] {
  return cell.split(', ').flatMap((entry) => {
    const [count, value] = entry.split(' × ');
    return value === undefined ? [entry] : Array.from({ length: Number(count) }, () => value);
  });
}

function minor(text: string): bigint {
  const parsed = parseHundredths(text);
  assert.ok(parsed !== undefined, `${text} is not an amount`);
  return parsed;
}

const plain = (amountMinor: bigint) => formatAmount(amountMinor, { style: 'plain' });

function shownOf({ rounding, reducedMinor }: ShareExplanation): string {
  const reduction = reducedMinor === 0n ? '' : ` −${reducedMinor / 100n}`;
  return (rounding === 'none' ? 'exact' : rounding) + reduction;
}

interface Row {
  amount: string;
  fee: string;
  payer: string;
  percentages: string;
}

/** The cells after the percentages, as our code fills them. */
function workedOut({ amount, fee, payer, percentages }: Row): Record<string, string | string[]> {
  assert.ok(payer === 'business' || payer === 'customer');
  const payment = { amountMinor: minor(amount), feeMinor: minor(fee), feePayer: payer } as const;
  const baseMinor = shareBase(payment);
  const members = entriesOf(percentages).map((percentage, index) => ({
    subAccountId: `sub-account ${index}`,
    percentHundredths: percentOf(Number(percentage), 'percentage'),
  }));
  checkPercentages(members, 'sum');
  const { shares, merchantMinor } = splitShares({ baseMinor, members, path: 'amount' });
  const explained = shares.map((share) => explainShare(baseMinor, share));
  const paidMinor = shares.reduce((sum, share) => sum + share.amountMinor, payment.feeMinor + merchantMinor);
  return {
    exact: explained.map(({ exact }) => exact),
    shown: explained.map(shownOf),
    shares: shares.map(({ amountMinor }) => plain(amountMinor).replace(/\.00$/, '')),
    merchant: plain(merchantMinor),
    paid: plain(paidMinor),
  };
}

describe('the worked examples of splits', () => {
  it('are at least 80, numbered from 1', () => {
    assert.ok(rows.length >= 80, `${rows.length} rows`);
    assert.deepEqual(
      rows.map(([number]) => number),
      rows.map((_, index) => String(index + 1)),
    );
  });

  for (const cells of rows) {
    const [number = '', amount = '', fee = '', payer = '', percentages = '', exact = '', shown = '', ...rest] = cells;
    const [shares = '', merchant = '', paid = ''] = rest;
    const row = { amount, fee, payer, percentages };
    it(`hold in row ${number}: ${percentages}% of ${amount}, fee ${fee} paid by the ${payer}`, () => {
      assert.equal(cells.length, 10);
      const [, refused] = /^refused: (\w+)$/.exec(shown) ?? [];
      if (refused !== undefined) {
        const refusal = (error: unknown) =>
          error instanceof AppError && error.statusCode === 400 && error.fields?.[0]?.path === refused;
        assert.throws(() => workedOut(row), refusal);
        return;
      }
      assert.deepEqual(workedOut(row), {
        exact: entriesOf(exact),
        shown: entriesOf(shown),
        shares: entriesOf(shares),
        merchant,
        paid,
      });
    });
  }
});

describe('the sentence about a share', () => {
  it('is the one in docs/splits.md', () => {
    assert.ok(sentences.length >= 7);
    for (const [base = '', percentage = '', amount = '', sentence] of sentences) {
      const share = { percentHundredths: minor(percentage), amountMinor: minor(amount) };
      assert.equal(explainShare(minor(base), share).text, sentence);
    }
  });
});
