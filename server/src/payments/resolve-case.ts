import { listCasesOfSubject } from '../cases/list-cases.ts';
import type { Case } from '../cases/case.ts';
import { throwIfRefused, type CaseResolver } from '../cases/resolution.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable } from '../kit/db.ts';
import { lockPayment } from './change-payment.ts';
import type { Situation } from './charge-case-rule.ts';
import { noteCharge } from './charge-notes.ts';
import type { PaymentContext } from './context.ts';
import { findChargeById } from './queries/charges.ts';
import { moneyRules } from './resolve-case-money.ts';
import { outcomeRules } from './resolve-case-outcome.ts';

/** Every way to resolve a case about a charge. */
export function createChargeResolvers(context: PaymentContext): CaseResolver[] {
  return [...moneyRules, ...outcomeRules].map((rule) => ({
    subjectType: 'charge',
    kind: rule.kind,
    resolution: rule.resolution,
    effect: rule.effect,
    needsMoney: rule.needsMoney === true,
    refusal: async (found) => rule.refusal(await readSituation(context.db, found)),
    prepare: async (found, reported) => {
      const merchant = await context.merchants.byId(found.merchantId);
      assert(merchant, 'a case has its merchant');
      const situation = await readSituation(context.db, found);
      throwIfRefused(rule.refusal(situation));
      const carryOut = await rule.begin(context, situation, reported);
      return async (tx, confirmation) => {
        const locked = await lockPayment(tx, merchant, situation.charge);
        // A report of the network that came meanwhile is applied by now, or waits for this lock.
        const now = await readSituation(tx, found);
        throwIfRefused(rule.refusal(now));
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
