import type { LongFigures } from '../runner/long-figures.ts';
import { partOf } from '../runner/long-parts.ts';
import { stateOf, type Gate, type PromiseGroup, type PromiseState, type ServicePromise } from './promise.ts';

/** What the figures of a promise are taken from. */
export interface Measured {
  /** The last long run of each test file. */
  long: LongFigures;
  /** The text of benchmarks/results.md. */
  benchmarks: string;
  longFiles: ReadonlySet<string>;
}

const gateNames: Record<Gate, string> = {
  change: 'each change',
  long: 'long run',
  release: 'before a release',
  production: 'always in production',
};

const stateNames: Record<PromiseState, string> = { held: 'held', weaker: '**weaker**', open: '**open**' };

/** The text of docs/promises.md. */
export function promisesPage(groups: readonly PromiseGroup[], measured: Measured): string {
  const promises = groups.flatMap((group) => group.promises);
  const count = (state: PromiseState): number => promises.filter((each) => stateOf(each) === state).length;
  return `# Promises

What Dalasi promises, and what holds each promise: ${promises.length} promises, of which ${count('held')} are held, ${count('weaker')} are held by something weaker than
promised, and open: ${count('open')}. A test is named here only if it was read and can fail when the promise is broken.

| When | Command |
|---|---|
| each change | \`npm test\`, or \`npm test -- <file>\` for one file |
| long run | \`npm run test:long -- <part>\`; the part stands beside the test |
| before a release | the long run, and \`npm run bench\` |
| always in production | an alert on the metric ([Operations](operations.md#monitoring)) |

${groups.map((group) => section(group, measured)).join('\n')}
This page is written by \`node tools/promises.ts\` from \`tools/promises\`, \`benchmarks/results.md\` and \`benchmarks/long-run.json\`; a check
fails when a test, benchmark or metric that it names is gone. Change those files and run the command.
`;
}

function section({ title, promises }: PromiseGroup, measured: Measured): string {
  return `## ${title}

| | Promise | When | State | Held by, and the command | Last figure |
|---|---|---|---|---|---|
${promises.map((promise) => row(promise, measured)).join('\n')}
`;
}

function row(promise: ServicePromise, measured: Measured): string {
  const { id, promise: text, gates, weaker, open } = promise;
  const difference = weaker ?? open;
  return `| ${[
    id,
    text,
    gates.map((gate) => gateNames[gate]).join(', '),
    `${stateNames[stateOf(promise)]}${difference === undefined ? '' : `: ${difference}`}`,
    evidence(promise, measured).join('<br>'),
    figures(promise, measured).join('<br>'),
  ]
    .map((cell) => cell.replaceAll('|', '\\|'))
    .join(' | ')} |`;
}

function evidence({ tests = {}, benchmarks = [], metrics = [] }: ServicePromise, { longFiles }: Measured): string[] {
  return [
    ...Object.entries(tests).map(([path, titles]) => {
      const part = longFiles.has(path) ? ` (\`npm run test:long -- ${partOf(path)}\`)` : '';
      return `[${path}](../${path})${part}: ${titles.map((title) => `“${title}”`).join('; ')}`;
    }),
    ...benchmarks.map((name) => `\`npm run bench -- ${name}\``),
    ...metrics.map((name) => `\`${name}\``),
  ];
}

function figures({ tests = {}, benchmarks = [] }: ServicePromise, { long, benchmarks: results }: Measured): string[] {
  const ofTests = Object.keys(tests).flatMap((path) => {
    const last = long[path];
    if (last === undefined) return [];
    const measured = [last.isOk ? 'passed' : '**failed**', `${last.seconds} s`, ...last.figures].join(', ');
    const name =
      path
        .split('/')
        .at(-1)
        ?.replace(/(?:\.long)?\.test\.ts$/, '') ?? path;
    return [`${name}: ${measured} (${last.date})`];
  });
  return [...ofTests, ...benchmarks.flatMap((name) => benchmarkFigures(results, name))];
}

interface Bar {
  label: string;
  value: number;
  aim: number;
  better: 'higher' | 'lower';
  unit: string;
}

/** The figures of a benchmark that have an aim. */
function benchmarkFigures(results: string, name: string): string[] {
  const [, bars = '[]', rest = ''] = results.split(new RegExp(`<!-- part ${name} (.*) -->`)) as (string | undefined)[];
  const date = /^\d{4}-\d\d-\d\d/m.exec(rest)?.[0] ?? '';
  return (JSON.parse(bars) as Bar[]).map(({ label, value, aim, better, unit }) => {
    const isMet = better === 'lower' ? value <= aim : value >= aim;
    const of = unit === 'ratio' ? '' : ` ${unit}`;
    return `${label}: ${Number(value.toPrecision(3))}${of}${isMet ? '' : ', **missed**'} (${date})`;
  });
}
