import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { PaymentStory } from '../../../../test/harness/payment-story.ts';
import { testKeys } from '../../../../test/harness/service.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { listOpenCasesOfMerchant } from '../../cases/list-cases.ts';
import { confirmResolution, proposeResolution } from '../../cases/resolve-case.ts';
import { readConfig } from '../../configuration/config.ts';
import { createServiceLog } from '../../api/service-log.ts';
import { dayMs, utcDay } from '../../kit/clock.ts';
import { systemRandom } from '../../kit/random.ts';
import { setFeeRule } from '../../merchants/manage-rules.ts';
import { allNetworks } from '../../merchants/rules.ts';
import { openCaseWork } from '../../operator/case-work.ts';
import { rollUpFigures } from '../../reports/daily-figures.ts';

const secondMs = 1_000;
const log = createServiceLog({ level: 'error' });

let world: DashboardWorld;
let story: PaymentStory;
let owner: Member;

before(async () => {
  const clock = new ManualClock();
  world = await openDashboardWorld({ clock });
  story = new PaymentStory(world.service, clock, world.business.test);
  const { db } = world.service;
  const fee = { percentHundredths: 175n, fixedMinor: 0n, minimumMinor: 0n, maximumMinor: null };
  const rule = { ...fee, operation: 'collection' as const, network: allNetworks };
  await setFeeRule(db, { merchantId: world.business.test.merchant.id }, rule);
  await untilNoon(0);
  await firstDay();
  await untilNoon(1);
  await secondDay();
  owner = await world.signIn('owner');
});
after(() => world.stop());

/** Moves to noon of today, or of a later day, rolling up what is closed. */
async function untilNoon(days: number): Promise<void> {
  const now = story.clock.now().getTime();
  const noon = Math.floor(now / dayMs) * dayMs + days * dayMs + dayMs / 2;
  await story.advance(noon > now ? noon - now : noon + dayMs - now);
  await rollUpFigures({ db: world.service.db, clock: story.clock, log });
}

async function refund(id: string, amount?: number): Promise<void> {
  const { reference } = await story.transaction(id);
  const { status, text } = await story.api.post('/v1/transactions/refund', { reference, ...(amount && { amount }) });
  assert.equal(status, 201, text);
  await story.settle();
}

async function transfer(number: string): Promise<void> {
  const body = { amount: 30.25, currency: 'GMD', network: 'wave', account_number: number, beneficiary_name: 'Awa' };
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const { status, text } = await story.api.post('/v1/transfers', body, headers);
  assert.equal(status, 201, text);
  await story.settle();
}

/** Paid, refunded in part, reversed, declined, paid with another amount, and expired while the payer still pays. */
async function firstDay(): Promise<void> {
  await story.paySettled('7000001', { title: 'Whole' });
  await refund(await story.paySettled('7000001', { title: 'Refunded in part', network: 'wave' }), 33.33);
  await story.paySettled('7000012', { title: 'Taken back' });
  await story.paySettled('7000010', { title: 'Of another amount' });
  const declined = await story.paySettled('7000002', { title: 'Declined' });
  await story.api.post(`/v1/payments/${declined}/cancel`);
  await transfer('7000001');
  await transfer('7000012');
  await transfer('7000004');
  await story.advance(3 * secondMs);
  // Expires before midnight, and is paid after it.
  const untilMidnight = dayMs - (story.clock.now().getTime() % dayMs);
  await story.advance(untilMidnight - 30 * 60 * secondMs - secondMs);
  await story.paySettled('7000011', { title: 'Late' });
  await story.advance(30 * 60 * secondMs);
}

/** The money of the day before moves once more. */
async function secondDay(): Promise<void> {
  await acceptCase();
  await refund(await story.paySettled('7000001', { title: 'Refunded' }));
  const id = await story.paySettled('7000001', { title: 'Whose refund is on its way' });
  const { reference } = await story.transaction(id);
  const neverResponds = `UPDATE simulator.sessions SET payer_number = '+220877000004' WHERE reference = $1`;
  await asOwner(world.service, neverResponds, [reference]);
  await refund(id);
  await transfer('7000001');
}

async function acceptCase(): Promise<void> {
  const { db, secrets, clock } = world.service;
  const config = readConfig({ ...testKeys, APP_ENV: 'development' });
  const work = await openCaseWork({ config, secrets, db, clock, random: systemRandom, log });
  const context = { ...work.context, isOperator: () => Promise.resolve(true) };
  const cases = await listOpenCasesOfMerchant(db, world.business.test.merchant.id, 10);
  const caseId = cases.find(({ kind }) => kind === 'amount_mismatch')?.id ?? '';
  const evidence = 'APS confirms it, ticket 4711.';
  const proposed = { caseId, resolution: 'accept', evidence, reported: null, operatorId: crypto.randomUUID() };
  await proposeResolution(context, proposed);
  await confirmResolution(context, { caseId, operatorId: crypto.randomUUID() });
  await work.close();
}

async function read(path: string): Promise<string> {
  const response = await owner.get(world.at(path.replaceAll('&amp;', '&')));
  assert.equal(response.status, 200, path);
  return response.text();
}

const minorOf = (text: string): number => Math.round(Number(text.replaceAll(/[D,]/g, '')) * 100);
const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/** What the rows of a page add up to: records of a day, or days. */
function sumOfRows(page: string): number {
  const table = page.slice(page.lastIndexOf('<table'));
  const cells = [...table.matchAll(/class="first">(-?D[\d,.]+)<|<\/th>\s*<td class="number">(-?D[\d,.]+)</g)];
  return sum(cells.map(([, record, day]) => minorOf(record ?? day ?? '')));
}

/** The amounts of a figure's file, in bututs. */
async function amountsOfFile(page: string): Promise<number[]> {
  const path = /href="[^"]+(\/figures\/[^"]+\/file[^"]*)"/.exec(page)?.[1] ?? '';
  const [heading = '', ...rows] = (await read(path)).trimEnd().split('\r\n');
  assert.match(heading, /^time,environment,.*,amount$/);
  return rows.map((row) => {
    const cells = row.split(',');
    assert.equal(cells[1], 'test');
    return minorOf(cells.at(-1) ?? '');
  });
}

/** A link to a figure with the amount or rate that stands in it or beside it. */
const linkToFigure =
  /href="[^"]+(\/figures\/([a-z-]+)\?(?:range|day)=[^"]+)"((?:(?!href=)[^])*?)(-?D[\d,]+\.\d\d|\d+%|\d+ of \d+)/g;

/** The unpaid ones of `6 of 8`. */
function unpaidOf(success = ''): number {
  const [, paid = 0, all = 0] = /(\d+) of (\d+)/.exec(success) ?? [];
  return Number(all) - Number(paid);
}

test('each figure of home is its list and its file, to the butut, however late its money moved', async () => {
  const day = utcDay(story.clock.now());
  const earlier = utcDay(new Date(story.clock.now().getTime() - dayMs));
  const [seen, checked] = [new Set<string>(), new Set<string>()];
  for (const range of ['today', 'yesterday', '7', '30', '365']) {
    const home = await read(`?range=${range}`);
    const panel = home.slice(home.indexOf('class="tabs"'), home.indexOf('id="newest"'));
    const links = [...panel.matchAll(linkToFigure)];
    assert.ok(links.length >= 6, `${links.length} figures of ${range}`);
    for (const [, path = '', name = '', , shown = ''] of links) {
      const what = `${path}: ${shown}`;
      // Most days have nothing, and days stand in several ranges.
      if (checked.has(what) || (path.includes('day=') && shown === 'D0.00')) continue;
      checked.add(what);
      const page = await read(path);
      const amounts = await amountsOfFile(page);
      if (name === 'unpaid') {
        const success = /Success<\/dt><dd>[^]*?<\/dd>/.exec(panel)?.[0];
        assert.equal(amounts.length, unpaidOf(success), what);
        continue;
      }
      // A day in the table of rates: its list is of what was collected.
      if (!shown.includes('D')) continue;
      seen.add(`${name} ${minorOf(shown) === 0 ? 'none' : 'some'}`);
      assert.equal(sumOfRows(page), minorOf(shown), what);
      assert.equal(sum(amounts), minorOf(shown), `the file of ${what}`);
    }
  }
  const home = await read('');
  const [, path = '', shown = ''] =
    /On its way<\/dt><dd><a href="[^"]+(\/balance\/on-its-way)">(D[\d,.]+)</.exec(home) ?? [];
  const held = await read(path);
  assert.deepEqual([minorOf(shown), sumOfRows(held)], [3_025 + 45_050, 3_025 + 45_050], 'a transfer and a refund');
  const [, ...rows] = (await read(`${path}/export/file`)).trimEnd().split('\r\n');
  assert.equal(sum(rows.flatMap((row) => row.split(',').slice(-2).map(minorOf))), minorOf(shown));
  for (const name of ['collected', 'paid-out', 'fees', 'refunds', 'taken-back', 'came-back']) {
    assert.ok(seen.has(`${name} some`), `nothing is ${name}`);
  }
  // 451.50 was accepted and 450.50 came late, both after midnight.
  assert.match(await read(`/figures/collected?day=${day}`), /<strong>4 entries, D1,803\.00</);
  assert.match(await read(`/figures/collected?day=${earlier}`), /<strong>3 entries, D1,351\.50</);
});
