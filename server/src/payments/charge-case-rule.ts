import type { Case } from '../cases/case.ts';
import type { CaseResolver, Confirmation, ReportedMoney } from '../cases/resolution.ts';
import type { Transaction } from '../kit/db.ts';
import type { Charge } from './charge.ts';
import type { LockedPayment } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';

/** How a case about a charge stands: what a rule judges, and what it is carried out on. */
export interface Situation {
  found: Case;
  charge: Charge;
  /** Every case about this charge, open or not. */
  cases: Case[];
}

/** One way to resolve one kind of case about a charge. */
export interface ChargeCaseRule extends Pick<CaseResolver, 'kind' | 'resolution' | 'effect'> {
  /** What the timeline says of it, which the merchant reads; null where nothing changed for the merchant. */
  note: string | null;
  needsMoney?: true;
  /** Why it cannot be done as things stand, in a sentence. Asked when it is shown and proposed, and under the lock. */
  refusal(situation: Situation): string | null;
  /** What comes before the transaction. Answers what is done in it, with everything locked. */
  begin(context: PaymentContext, situation: Situation, told: ReportedMoney | null): Promise<ChargeCarryOut>;
}

export type ChargeCarryOut = (tx: Transaction, locked: LockedPayment, step: ChargeStep) => Promise<void>;

export interface ChargeStep {
  situation: Situation;
  confirmation: Confirmation;
}
