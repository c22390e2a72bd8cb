import type { PageLoadOptions, PageLoadResult } from './page-load.ts';
import { failureFigure, type Figure, type Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, whole } from './harness/statistics.ts';

const opensPerSecond = 200;
const seconds = 15;
const warmUpSeconds = 5;
const p95MaxMs = 20;

export const scan: Part = {
  name: 'scan',
  title: 'From the scan to the page',
  description:
    `The page of a counter (GET /pos/{code and check}, what its QR code holds) and the page of a payment link, opened ` +
    `${opensPerSecond} times a second for ${seconds} s, one after the other, started by the clock, on keep-alive ` +
    'connections: from the due time of each request to the first byte.',
  async run(bench) {
    const service = await bench.startService();
    const terminal = await service.post<{ qr_code_url: string }>('/v1/virtual-terminals', {
      name: 'Counter 1',
      chat_numbers: ['7012345'],
    });
    const link = await service.post<{ url: string }>('/v1/payment-links', { data: { title: 'Course', amount: 450 } });
    const counterPath = new URL(terminal.qr_code_url).pathname;
    const linkPath = new URL(link.url).pathname;
    for (const path of [counterPath, linkPath]) await open(service, path, warmUpSeconds);
    const counter = await open(service, counterPath, seconds);
    const linked = await open(service, linkPath, seconds);
    await service.stop();
    bench.log(`  counter p95 ${inMs(counter.p95Ms)}, link p95 ${inMs(linked.p95Ms)}`);
    const failures = counter.failures + linked.failures;
    return {
      figures: [
        ...figuresOf('counter', counter),
        ...figuresOf('link', linked),
        failureFigure('Pages that failed', failures),
      ],
      bars: [
        { label: 'scan to counter p95', value: counter.p95Ms, aim: p95MaxMs, better: 'lower', unit: 'ms' },
        { label: 'opening a link p95', value: linked.p95Ms, aim: p95MaxMs, better: 'lower', unit: 'ms' },
      ],
    };
  },
};

function figuresOf(page: string, { p50Ms, p95Ms, p99Ms, openedPerSecond }: PageLoadResult): Figure[] {
  return [
    {
      label: `First byte of the ${page}’s page, p95`,
      value: inMs(p95Ms),
      aim: { text: `under ${p95MaxMs} ms`, isMet: p95Ms < p95MaxMs },
    },
    { label: `The same, p50 and p99, ${page}`, value: `${inMs(p50Ms)}, ${inMs(p99Ms)}` },
    { label: `Opened a second, ${page}`, value: whole(openedPerSecond) },
  ];
}

function open({ url }: Service, path: string, forSeconds: number): Promise<PageLoadResult> {
  const options: PageLoadOptions = { url, path, opensPerSecond, seconds: forSeconds };
  return runProgram('page-load.ts', options);
}
