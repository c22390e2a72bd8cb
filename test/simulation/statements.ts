import { addMs, dayMs } from '../../server/src/kit/clock.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import { firstMoment } from '../../server/src/kit/time-or-day.ts';
import type { StatementEntry } from '../../server/src/networks/statement.ts';
import { refundIdOf } from '../../server/src/networks/wave/statement.ts';
import { findStatementAccount } from '../../server/src/reconciliation/account.ts';
import type { ReconciliationContext } from '../../server/src/reconciliation/context.ts';
import { importLines } from '../../server/src/reconciliation/import-lines.ts';
import { runDay } from '../../server/src/reconciliation/run-day.ts';
import type { Movement } from '../../simulator/statement/movement.ts';
import type { SimulatedStatements } from '../../simulator/statement/simulated-statements.ts';
import { sessionIdPrefix } from '../../simulator/wave/wire-session.ts';
import type { ConsoleOperators } from './console-operators.ts';
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
  /** Our references of what the networks have contradicted: of these only the statement says what is so. */
  contradicted: ReadonlySet<string>;
}

interface AccountLine {
  rail: string;
  /** Ours, also where the line does not repeat it. */
  reference: string;
  line: StatementEntry;
}

/** An operator imports what the networks' statements say of some days, and reconciles each. Returns what was false in them. */
export async function reconcileStatements(
  context: ReconciliationContext,
  { statements, accounts, days, falseLines, contradicted }: StatementsOptions,
): Promise<Contradiction[]> {
  const [from, last] = [firstMoment(days[0] ?? ''), firstMoment(days.at(-1) ?? '')];
  const lines: AccountLine[] = [];
  for (const account of accounts) {
    for (const network of networks) {
      const query = { account, network, from, before: addMs(last, dayMs), after: null, rowsMax: rows };
      for (const movement of await statements.list(query))
        lines.push({
          rail: railOf(network, movement),
          reference: movement.reference,
          line: entryOf(network, movement),
        });
    }
  }
  const contradictions = falseLines.flatMap((fault) => falsify(lines, fault, contradicted) ?? []);
  for (const rail of ['wave-test', 'gsma-test', '54pay-test'])
    await reconcile(context, { rail, days, lines: lines.filter((one) => one.rail === rail).map(({ line }) => line) });
  return contradictions;
}

/** A line has twice its amount, or is missing; every second one is a refund's, where there is any. Null where there are no lines. */
function falsify(
  lines: AccountLine[],
  { kind, choice }: Fault,
  contradicted: ReadonlySet<string>,
): Contradiction | null {
  const isMissing = kind === 'missing_line';
  const possible = lines.filter(({ reference }) => !isMissing || !contradicted.has(reference));
  const refunds = possible.filter(({ line }) => line.kind === 'refund');
  const among = choice % 2 === 0 && refunds.length > 0 ? refunds : possible;
  const said = among[Math.floor(choice / 2) % Math.max(1, among.length)];
  if (!said) return null;
  const { line } = said;
  const reference = line.originalTransactionId ?? line.transactionId;
  if (isMissing) {
    lines.splice(lines.indexOf(said), 1);
    return { kind: 'missing_line', reference, isIncoming: line.netMinor > 0n };
  }
  said.line = { ...line, grossMinor: line.grossMinor * 2n, netMinor: line.netMinor * 2n };
  return { kind: 'false_statement', reference };
}

export interface AccountStatement {
  rail: string;
  lines: readonly StatementEntry[];
  /** As YYYY-MM-DD. */
  days: readonly string[];
}

export async function reconcile(
  context: ReconciliationContext,
  { rail, lines, days }: AccountStatement,
): Promise<void> {
  // The statement by API of the simulator has no contradictions.
  const account = { ...(await findStatementAccount(context, rail)), statements: null };
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

const reversals = { collection: 'collection_reversal', payout: 'payout_reversal', refund: 'payout_reversal' } as const;

function entryOf(network: (typeof networks)[number], movement: Movement): StatementEntry {
  const { id, kind, isReversal, amountMinor, currency, number, at } = movement;
  const grossMinor = amountMinor < 0n ? -amountMinor : amountMinor;
  return {
    transactionId: id,
    kind: isReversal ? reversals[kind] : kind,
    ...{ status: 'completed', at, currency, grossMinor, netMinor: amountMinor, feeMinor: 0n, balanceMinor: null },
    ...{ reference: movement.reference, originalTransactionId: isReversal ? id.replace(/R$/, '') : null },
    ...{ counterpartyNumber: number, counterpartyName: null },
    ...(network === 'wave' && kind === 'refund' ? refundOfWave(movement) : {}),
  };
}

/** Its line has no reference, and the session that it refunds (`simulator/wave/wallet-routes.ts`); one that returned has the same. */
function refundOfWave({ subjectId }: Movement): Partial<StatementEntry> {
  const originalTransactionId = refundIdOf(`${sessionIdPrefix}${subjectId}`);
  return { kind: 'refund', reference: null, originalTransactionId };
}

/** An operator uploads the statement at the console, where another one uploads it again, and both reconcile each day at once. */
export async function reconcileAtConsole(
  consoleOperators: ConsoleOperators,
  { rail, lines, days }: AccountStatement,
): Promise<void> {
  await consoleOperators.signInAgain();
  const base = '/operator/test/reconciliation';
  const cells = lines.map(({ transactionId, at, kind, netMinor, balanceMinor, originalTransactionId }) => {
    const [amount, balance] = [netMinor, balanceMinor ?? 0n].map((minor) => formatAmount(minor, { style: 'plain' }));
    return [transactionId, at.toISOString(), kind, amount, balance, originalTransactionId ?? ''].join(';');
  });
  const text = ['transaction_id;time;type;amount;balance;original_transaction_id', ...cells, ''].join('\n');
  for (const person of [0, 1] as const) {
    // With one more empty row, so that its lines are read again.
    const file = { field: 'lines', text: `${text}${'\n'.repeat(person)}` };
    const sent = await consoleOperators.openAndPress(person, `${base}/import`, { network: rail }, file);
    const said = (sent && 'page' in sent ? sent.page.text : '').replaceAll(/<[^>]*>/g, ' ');
    const [added, known] = person === 0 ? [lines.length, 0] : [0, lines.length];
    if (!said.includes(`${added} new lines, ${known} known, 0 refused`))
      throw new Error(`the import of ${lines.length} lines says ${said.slice(0, 600)}`);
  }
  for (const day of days)
    await Promise.all(
      ([0, 1] as const).map((who) => consoleOperators.openAndPress(who, `${base}/run`, { network: rail, day })),
    );
}
