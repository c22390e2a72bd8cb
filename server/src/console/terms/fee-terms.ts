import { fieldError } from '../../api/app-error.ts';
import type { Queryable, Transaction } from '../../kit/db.ts';
import { clearFeeRule, findRules, setFeePayer, setFeeRule } from '../../merchants/manage-rules.ts';
import { feeValues } from '../../merchants/rule-values.ts';
import { allNetworks, findFeeRule, type Operation } from '../../merchants/rules.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import type { ConsoleRoute } from '../console-route.ts';
import {
  clearField,
  isAgreed,
  isCleared,
  minorOf,
  percentOf,
  termsRoutes,
  type Form,
  type TermsOwner,
} from './terms-form.ts';

const ruleFields: readonly Field[] = [
  { kind: 'text', name: 'percent', label: 'Percent', hint: 'Such as 1.5.' },
  { kind: 'amount', name: 'fixed', label: 'Fixed part in dalasi' },
  { kind: 'amount', name: 'minimum', label: 'At least, in dalasi' },
  { kind: 'amount', name: 'maximum', label: 'At most, in dalasi' },
];

const payerField: Field = {
  ...{ kind: 'select', name: 'payer', label: 'Paid by' },
  options: [
    { value: 'business', text: 'The business' },
    { value: 'customer', text: 'The payer' },
  ],
};

async function ruleValues(db: Queryable, operation: Operation, owner: TermsOwner): Promise<Form> {
  return feeValues(findFeeRule(await findRules(db, owner.owner), operation, owner.network)?.rule);
}

async function setRule(
  tx: Transaction,
  operation: Operation,
  { owner, network }: TermsOwner,
  form: Form,
): Promise<void> {
  if (isCleared(form)) {
    await clearFeeRule(tx, owner, { operation, network });
    return;
  }
  const [minimumMinor, maximumMinor] = [minorOf(form, 'minimum') ?? 0n, minorOf(form, 'maximum')];
  if (maximumMinor !== null && maximumMinor < minimumMinor) {
    throw fieldError('invalid_request', 'maximum', 'The most is less than the least. Raise it.');
  }
  const fixedMinor = minorOf(form, 'fixed') ?? 0n;
  const rule = { operation, network, percentHundredths: percentOf(form), fixedMinor, minimumMinor, maximumMinor };
  await setFeeRule(tx, owner, rule);
}

const fees = termsRoutes({
  name: 'fees',
  heading: 'Fee of collections',
  effect: 'A new rule replaces the previous one as a whole. Payments that exist keep their fee.',
  hasDefault: true,
  fields: (_visit, owner) => [...(owner.merchant ? [payerField] : []), ...ruleFields, clearField(owner)],
  values: async (db, owner) => ({
    ...(owner.merchant && { payer: owner.merchant.collectionFee.payer }),
    ...(await ruleValues(db, 'collection', { ...owner, network: allNetworks })),
  }),
  async set(tx, owner, form, values) {
    if (owner.merchant) {
      await setFeePayer(tx, owner.merchant.id, form['payer'] === 'customer' ? 'customer' : 'business');
    }
    if (isAgreed({ fields: [...ruleFields, clearField(owner)], values }, form)) return;
    // The fee of collections is the same on every network.
    await setRule(tx, 'collection', { ...owner, network: allNetworks }, form);
  },
});

const transferFees = termsRoutes({
  name: 'transfer-fees',
  heading: 'Fee of transfers',
  effect:
    'It comes on top of a transfer. A rule for one network goes before the one for all. Transfers that exist keep their fee.',
  hasDefault: true,
  fields: (_visit, owner) => [...ruleFields, clearField(owner)],
  values: (db, owner) => ruleValues(db, 'transfer', owner),
  set: (tx, owner, form) => setRule(tx, 'transfer', owner, form),
});

export const feeTerms: readonly ConsoleRoute[] = [...fees, ...transferFees];
