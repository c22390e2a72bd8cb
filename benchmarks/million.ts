import { fillPayments } from './harness/fill-payments.ts';
import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import { creationBody } from './harness/creation-statements.ts';
import type { Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { compare, describeRatio, inMs, whole } from './harness/statistics.ts';

const payments = 1_000_000;
const connections = 8;
const seconds = 5;
const rounds = 4;
const warmUpSeconds = 3;
const ratioMax = 1.3;

export const million: Part = {
  name: 'million',
  title: 'A million payments in the table',
  meaning:
    `The same service on two databases, one with ${whole(payments)} payments of the merchant (intent, charge and ` +
    `event each), one that began empty. In turns, on ${connections} connections: the median latency of creating an ` +
    'intent, and of the first page of the list.',
  async run(bench) {
    const empty = await bench.startService();
    const full = await bench.startService();
    const fillSeconds = await fillPayments(full, payments);
    bench.tell(`  ${whole(payments)} payments written in ${whole(fillSeconds)} s`);
    for (const service of [empty, full]) {
      await latency(service, creation, warmUpSeconds);
      await latency(service, firstPage, warmUpSeconds);
    }
    const creations: { measured: number; base: number }[] = [];
    const pages: { measured: number; base: number }[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      creations.push({ base: await latency(empty, creation), measured: await latency(full, creation) });
      pages.push({ base: await latency(empty, firstPage), measured: await latency(full, firstPage) });
      const [created, page] = [creations.at(-1), pages.at(-1)];
      bench.tell(
        `  round ${round}: creation ${inMs(created?.base ?? 0)} and ${inMs(created?.measured ?? 0)}, ` +
          `first page ${inMs(page?.base ?? 0)} and ${inMs(page?.measured ?? 0)}`,
      );
    }
    await empty.stop();
    await full.stop();
    const [created, page] = [compare(creations), compare(pages)];
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
