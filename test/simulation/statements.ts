import { addMs, dayMs } from '../../server/src/kit/clock.ts';
import { firstMoment } from '../../server/src/kit/time-or-day.ts';
import type { StatementEntry } from '../../server/src/networks/statement.ts';
import { findStatementAccount } from '../../server/src/reconciliation/account.ts';
import type { ReconciliationContext } from '../../server/src/reconciliation/context.ts';
import { importLines } from '../../server/src/reconciliation/import-lines.ts';
import { runDay } from '../../server/src/reconciliation/run-day.ts';
import type { Movement } from '../../simulator/statement/movement.ts';
import type { SimulatedStatements } from '../../simulator/statement/simulated-statements.ts';
import type { Contradiction } from './contradictions.ts';
import type { Fault } from './plan.ts';

const networks = ['wave', 'aps', 'afrimoney', 'qmoney'] as const;
const rows = 1_000;

export interface StatementsOptions {
  statements: SimulatedStatements;
  /** The short ids of the merchants, whose wallets share each account. */
  accounts: readonly string[];
  /** As YYYY-MM-DD. */
  days: readonly string[];
  falseLines: readonly Fault[];
}

/** An operator imports what the networks' statements say of some days, and reconciles each. Returns what was false in them. */
export async function reconcileStatements(
  context: ReconciliationContext,
  { statements, accounts, days, falseLines }: StatementsOptions,
): Promise<Contradiction[]> {
  const [from, last] = [firstMoment(days[0] ?? ''), firstMoment(days.at(-1) ?? '')];
  const lines: { rail: string; line: StatementEntry }[] = [];
  for (const account of accounts) {
    for (const network of networks) {
      const query = { account, network, from, before: addMs(last, dayMs), after: null, rowsMax: rows };
      for (const movement of await statements.list(query))
        // A refund's line has what each network makes of it, which its own tests are about.
        if (movement.kind !== 'refund') lines.push({ rail: railOf(network, movement), line: entryOf(movement) });
    }
  }
  const contradictions: Contradiction[] = [];
  for (const { choice } of falseLines) {
    const said = lines[choice % Math.max(1, lines.length)];
    if (!said) continue;
    const { line } = said;
    said.line = { ...line, grossMinor: line.grossMinor * 2n, netMinor: line.netMinor * 2n };
    contradictions.push({ kind: 'false_statement', reference: line.transactionId.replace(/R$/, '') });
  }
  for (const rail of ['wave-test', 'gsma-test', '54pay-test'])
    await reconcile(context, { rail, days, lines: lines.filter((one) => one.rail === rail).map(({ line }) => line) });
  return contradictions;
}

async function reconcile(
  context: ReconciliationContext,
  { rail, lines, days }: { rail: string; lines: readonly StatementEntry[]; days: readonly string[] },
): Promise<void> {
  const account = await findStatementAccount(context, rail);
  async function* numbered() {
    for (const [index, line] of lines.entries()) yield { rowNumber: index + 1, line };
  }
  const about = { source: 'file', name: 'statement.csv', fingerprint: `statement of ${rail}` } as const;
  await importLines(context, account, { ...about, rows: numbered() });
  for (const day of days) await runDay(context, account, day);
}

/** Collections of two networks come by an aggregator, which pays nothing out. */
function railOf(network: (typeof networks)[number], { kind }: Movement): string {
  if (network === 'wave') return 'wave-test';
  return kind === 'collection' && network !== 'aps' ? '54pay-test' : 'gsma-test';
}

function entryOf(movement: Movement): StatementEntry {
  const { id, kind, isReversal, amountMinor, currency, number, at } = movement;
  const grossMinor = amountMinor < 0n ? -amountMinor : amountMinor;
  return {
    transactionId: id,
    kind: isReversal ? (kind === 'payout' ? 'payout_reversal' : 'collection_reversal') : kind,
    ...{ status: 'completed', at, currency, grossMinor, netMinor: amountMinor, feeMinor: 0n, balanceMinor: null },
    ...{ reference: movement.reference, originalTransactionId: isReversal ? id.replace(/R$/, '') : null },
    ...{ counterpartyNumber: number, counterpartyName: null },
  };
}
