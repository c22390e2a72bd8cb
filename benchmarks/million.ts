import { fillPayments } from './harness/fill-payments.ts';
import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import { creationBody } from './harness/creation-statements.ts';
import type { Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, whole } from './harness/statistics.ts';
import { describeRatio, measureAlternately } from './harness/alternate.ts';

const payments = 1_000_000;
const connections = 8;
const seconds = 4;
const rounds = 6;
const warmUpSeconds = 3;
const ratioMax = 1.3;

export const million: Part = {
  name: 'million',
  title: 'A million payments in the table',
  description:
    `The same service on two databases, one with ${whole(payments)} payments of the merchant (intent, charge and ` +
    `event each), one that began empty. Alternately, on ${connections} connections: the median latency of creating an ` +
    'intent, and of the first page of the list.',
  async run(bench) {
    const empty = await bench.startService();
    const full = await bench.startService();
    const fillSeconds = await fillPayments(full, payments);
    bench.log(`  ${whole(payments)} payments written in ${whole(fillSeconds)} s`);
    for (const service of [empty, full]) {
      await latency(service, creation, warmUpSeconds);
      await latency(service, firstPage, warmUpSeconds);
    }
    const created = await measureAlternately(
      rounds,
      { measured: () => latency(full, creation), base: () => latency(empty, creation) },
      (round, { measured, base }) => bench.log(`  round ${round}: creation ${inMs(base)} and ${inMs(measured)}`),
    );
    const page = await measureAlternately(
      rounds,
      { measured: () => latency(full, firstPage), base: () => latency(empty, firstPage) },
      (round, { measured, base }) => bench.log(`  round ${round}: first page ${inMs(base)} and ${inMs(measured)}`),
    );
    await empty.stop();
    await full.stop();
    const aim = (ratio: number) => ({ text: `at most ${ratioMax}`, isMet: ratio <= ratioMax });
    return {
      figures: [
        { label: 'Creation, empty table', value: inMs(created.base) },
        { label: `Creation, ${whole(payments)} payments`, value: inMs(created.measured) },
        { label: 'Creation: full ÷ empty', value: describeRatio(created), aim: aim(created.ratio) },
        { label: 'First page, empty table', value: inMs(page.base) },
        { label: `First page, ${whole(payments)} payments`, value: inMs(page.measured) },
        { label: 'First page: full ÷ empty', value: describeRatio(page), aim: aim(page.ratio) },
      ],
      bars: [
        { label: 'creation, million ÷ empty', value: created.ratio, aim: ratioMax, better: 'lower', unit: 'ratio' },
        { label: 'first page, million ÷ empty', value: page.ratio, aim: ratioMax, better: 'lower', unit: 'ratio' },
      ],
    };
  },
};

type Request = Pick<HttpLoadOptions, 'path' | 'body'>;

const creation: Request = { path: '/v1/payments', body: creationBody };
const firstPage: Request = { path: '/v1/payments' };

/** The median, in milliseconds. */
async function latency({ url, key, settled }: Service, request: Request, forSeconds = seconds): Promise<number> {
  const options: HttpLoadOptions = { url, key, ...request, connections, seconds: forSeconds };
  const { p50Ms, failures } = await runProgram<HttpLoadResult>('http-load.ts', options);
  if (failures > 0) throw new Error(`${failures} requests to ${request.path} failed`);
  await settled();
  return p50Ms;
}
