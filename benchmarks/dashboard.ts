import { withAdminClient } from '../server/src/database/admin-client.ts';
import { compressedBytes, open, signIn, type Visit } from './harness/dashboard-visit.ts';
import { fillPayments, giveNumberTo } from './harness/fill-payments.ts';
import { fillPayouts } from './harness/fill-payouts.ts';
import type { Figure, Part } from './harness/part.ts';
import { inMs, median, percentile, whole } from './harness/statistics.ts';

const payments = 1_000_000;
const payouts = 500_000;
const requests = 20;
const warmUps = 3;
const listMaxMs = 300;
const searchMaxMs = 500;
const firstVisitMaxKb = 60;
const laterPageMaxKb = 15;

// Of one payment in 200,000.
const rareNumber = '7004321';
const rareAmount = 'D1,234.50';
const rareShare = 200_000;

/** Searches that no single index answers, by what is measured. */
const texts = [
  ['A text that nothing has, everywhere', '/search?q=zzz'],
  ['Digits alone, everywhere', '/search?q=1234'],
  ['A name in part, in the transfers', '/transfers?term=person+12'],
  ['Digits alone, in the payments', '/payments?term=1234'],
  ['A text that nothing has, in the refunds', '/refunds?term=zzz'],
] as const;

export const dashboard: Part = {
  name: 'dashboard',
  title: 'The dashboard over a million payments',
  description:
    `One merchant with ${whole(payments)} payments (intent, charge and event each), ${whole(payouts)} transfers and as many refunds. The owner opens pages one after the ` +
    `other, ${requests} times each: from the request to the last byte. Sizes are those of the compressed responses: the first visit ` +
    'is the home page with its style and script, a later page comes alone, because the browser has both.',
  async run(bench) {
    const service = await bench.startService();
    bench.log(`  ${whole(payments)} payments written in ${whole(await fillPayments(service, payments))} s`);
    await fillPayouts(service, payouts);
    await withAdminClient(service.adminUrl, async (client) => {
      for (const text of [giveNumberTo(rareNumber, rareShare), giveRareAmount]) await client.query(text);
    });
    const visit = await signIn(service);
    const home = await open(visit, '');
    const firstVisitKb = (home.bytes + (await assetBytes(visit, home.text))) / 1_000;
    const list = await measure(visit, '/payments');
    const listKb = (await open(visit, '/payments')).bytes / 1_000;
    for (const term of [rareNumber, rareAmount]) {
      const found = await open(visit, `/payments?term=${term}`);
      if (!found.text.includes('id="row-')) throw new Error(`the search for ${term} found nothing`);
    }
    const byNumber = await measure(visit, `/payments?term=${rareNumber}`);
    const byReference = await measure(visit, `/payments?term=TX-${payments / 2}`);
    const byAmount = await measure(visit, `/payments?term=${rareAmount}`);
    const everywhere = await measure(visit, `/search?q=${rareAmount}`);
    const byText: Figure[] = [];
    for (const [label, path] of texts) byText.push(timed(`${label}, p95`, await measure(visit, path), searchMaxMs));
    const homeMs = await measure(visit, '');
    await service.stop();
    bench.log(`  list ${inMs(list.p95Ms)}, by number ${inMs(byNumber.p95Ms)}, by reference ${inMs(byReference.p95Ms)}`);
    return {
      figures: [
        timed('First page of the payments, p95', list, listMaxMs),
        timed('Search by number, p95', byNumber, searchMaxMs),
        timed('Search by reference, p95', byReference, searchMaxMs),
        timed('Search by amount, p95', byAmount, searchMaxMs),
        timed('The same in every kind of record, p95', everywhere, searchMaxMs),
        ...byText,
        timed('Home, p95', homeMs, listMaxMs),
        sized('First visit of home, compressed', firstVisitKb, firstVisitMaxKb),
        sized('A later page (payments), compressed', listKb, laterPageMaxKb),
      ],
      bars: [
        { label: 'list of a million payments, p95', value: list.p95Ms, aim: listMaxMs, better: 'lower', unit: 'ms' },
        { label: 'search by number, p95', value: byNumber.p95Ms, aim: searchMaxMs, better: 'lower', unit: 'ms' },
      ],
    };
  },
};

const giveRareAmount = `UPDATE payment_intents SET amount = 123450 FROM charges
  WHERE charges.merchant_id = payment_intents.merchant_id AND charges.intent_id = payment_intents.id
    AND charges.account_number = '${rareNumber}'`;

async function assetBytes(visit: Visit, page: string): Promise<number> {
  const paths = [...page.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  const { origin } = new URL(visit.url);
  let bytes = 0;
  for (const path of new Set(paths)) bytes += await compressedBytes(origin + path, visit.cookie);
  return bytes;
}

interface Timed {
  p50Ms: number;
  p95Ms: number;
}

async function measure(visit: Visit, path: string): Promise<Timed> {
  for (let warmUp = 0; warmUp < warmUps; warmUp += 1) await open(visit, path);
  const elapsedMs: number[] = [];
  for (let index = 0; index < requests; index += 1) elapsedMs.push((await open(visit, path)).elapsedMs);
  return { p50Ms: median(elapsedMs), p95Ms: percentile(elapsedMs, 95) };
}

function timed(label: string, { p50Ms, p95Ms }: Timed, maxMs: number): Figure {
  const aim = { text: `under ${whole(maxMs)} ms`, isMet: p95Ms < maxMs };
  return { label, value: `${inMs(p95Ms)} (p50 ${inMs(p50Ms)})`, aim };
}

function sized(label: string, kilobytes: number, max: number): Figure {
  return { label, value: `${kilobytes.toFixed(1)} KB`, aim: { text: `at most ${max} KB`, isMet: kilobytes <= max } };
}
