/**
 * The benchmarks: `npm run bench` measures everything (some twenty minutes), `npm run bench -- create memory` these
 * parts. It prints the figures and writes them to benchmarks/results.md and results.svg.
 */
import { systemClock } from '../server/src/kit/clock.ts';
import { create } from './create.ts';
import { dashboard } from './dashboard.ts';
import { deliveries } from './deliveries.ts';
import { hanging } from './hanging.ts';
import { describeCommit, describeMachine } from './harness/machine.ts';
import { baselineCheckout, type Measured, type Part } from './harness/part.ts';
import { recordResults } from './harness/results.ts';
import { openWorkbench } from './harness/workbench.ts';
import { intents } from './intents.ts';
import { ledgerVerify } from './ledger-verify.ts';
import { lookUpsDue } from './look-ups.ts';
import { memory } from './memory.ts';
import { migrations } from './migrations.ts';
import { million } from './million.ts';
import { notices } from './notices.ts';
import { overload } from './overload.ts';
import { payouts } from './payouts.ts';
import { pending } from './pending.ts';
import { posters } from './posters.ts';
import { reconciliation } from './reconciliation.ts';
import { scan } from './scan.ts';
import { settlement } from './settlement.ts';
import { shared } from './shared.ts';
import { transfers } from './transfers.ts';
import { whole } from './whole.ts';
import { writers } from './writers.ts';

const parts: readonly Part[] = [
  create,
  intents,
  transfers,
  payouts,
  overload,
  lookUpsDue,
  whole,
  shared,
  writers,
  deliveries,
  pending,
  hanging,
  notices,
  scan,
  posters,
  million,
  dashboard,
  memory,
  ledgerVerify,
  settlement,
  reconciliation,
  migrations,
];

const log = (sentence: string): void => console.log(sentence);

async function main(names: readonly string[]): Promise<void> {
  const chosen = parts.filter(({ name, needsBaseline }) =>
    names.length === 0 ? !needsBaseline : names.includes(name),
  );
  const unknown = names.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined) {
    console.error(`There is no part ${unknown}. The parts are ${parts.map((part) => part.name).join(', ')}.`);
    process.exitCode = 1;
    return;
  }
  if (chosen.some(({ needsBaseline }) => needsBaseline) && baselineCheckout() === undefined) {
    console.error('Set BASELINE_CHECKOUT to a checkout of the last release with its packages installed.');
    process.exitCode = 1;
    return;
  }
  const command = ['npm run bench', ...(names.length === 0 ? [] : ['--', ...names])].join(' ');
  const bench = await openWorkbench(log);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void bench.close().finally(() => process.exit(1)));
  }
  try {
    const machine = describeMachine(bench.postgresVersion);
    log(`${machine}, commit ${describeCommit()}`);
    for (const part of chosen) {
      log(`\n${part.title} (${part.name})`);
      const measured = await part.run(bench);
      print(measured);
      const date = systemClock.now().toISOString().slice(0, 16).replace('T', ' ');
      recordResults(parts, part, measured, { date: `${date} UTC`, machine, commit: describeCommit(), command });
    }
  } finally {
    await bench.close();
  }
}

function print({ figures }: Measured): void {
  for (const { label, value, aim } of figures) {
    const judgement = aim === undefined ? '' : `  aim ${aim.text}: ${aim.isMet ? 'met' : 'MISSED'}`;
    log(`  ${label.padEnd(44)} ${value}${judgement}`);
  }
}

await main(process.argv.slice(2));
