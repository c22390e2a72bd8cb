import { listCasesOfSubject } from '../cases/list-cases.ts';
import type { Case } from '../cases/open-case.ts';
import { refuseWhere } from '../cases/resolution.ts';
import type { CaseResolver, Confirmation, ToldMoney } from '../cases/resolution.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import type { Charge } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import { lockPayment } from './charge-outcome.ts';
import type { LockedPayment } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';
import { findChargeById } from './queries/charges.ts';
import { moneyRules } from './resolve-case-money.ts';
import { outcomeRules } from './resolve-case-outcome.ts';

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
  begin(context: PaymentContext, situation: Situation, told: ToldMoney | null): Promise<ChargeCarryOut>;
}

export type ChargeCarryOut = (tx: Transaction, locked: LockedPayment, step: ChargeStep) => Promise<void>;

export interface ChargeStep {
  situation: Situation;
  confirmation: Confirmation;
}

/** Every way to resolve a case about a charge. */
export function createChargeResolvers(context: PaymentContext): CaseResolver[] {
  return [...moneyRules, ...outcomeRules].map((rule) => ({
    subjectType: 'charge',
    kind: rule.kind,
    resolution: rule.resolution,
    effect: rule.effect,
    needsMoney: rule.needsMoney === true,
    refusal: async (found) => rule.refusal(await readSituation(context.db, found)),
    prepare: async (found, told) => {
      const merchant = await context.merchants.byId(found.merchantId);
      assert(merchant, 'a case has its merchant');
      const situation = await readSituation(context.db, found);
      refuseWhere(rule.refusal(situation));
      const carryOut = await rule.begin(context, situation, told);
      return async (tx, confirmation) => {
        const locked = await lockPayment(tx, merchant, situation.charge);
        // What the network said meanwhile has been written by now, or waits for us.
        const now = await readSituation(tx, found);
        refuseWhere(rule.refusal(now));
        if (rule.note !== null) noteCharge(tx, context, locked.charge, 'case_resolved', rule.note);
        await carryOut(tx, locked, { situation: now, confirmation });
      };
    },
  }));
}

async function readSituation(db: Queryable, found: Case): Promise<Situation> {
  const charge = await findChargeById(db, found.merchantId, found.subjectId);
  assert(charge, 'a case has its charge');
  return { found, charge, cases: await listCasesOfSubject(db, found.merchantId, charge.id) };
}
