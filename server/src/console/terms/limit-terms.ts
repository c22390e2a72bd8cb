import { fieldError } from '../../api/app-error.ts';
import {
  clearLimit,
  clearReserve,
  findReserves,
  findRules,
  setLimit,
  setReserve,
} from '../../merchants/manage-rules.ts';
import { payoutScheduleOf, payoutSchedules, setPayoutSchedule } from '../../merchants/payout-schedule.ts';
import { limitValues, reserveValues } from '../../merchants/rule-values.ts';
import { limitKinds, reserveDaysMax, reserveHoursMax, resolveReserve } from '../../merchants/rules.ts';
import type { Transaction } from '../../kit/db.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import type { ConsoleRoute } from '../console-route.ts';
import {
  clearField,
  isAgreed,
  isCleared,
  limitOf,
  percentOf,
  termsRoutes,
  type Form,
  type TermsOwner,
} from './terms-form.ts';

const limits = termsRoutes({
  name: 'limits',
  heading: 'Limits of transfers',
  effect: 'They apply to transfers that are created from now on.',
  hasDefault: true,
  fields: (_visit, { merchant }) => {
    const hint = merchant ? 'Empty: the default. “none”: no limit, whatever the default.' : 'Empty: no limit.';
    return [
      { kind: 'text', name: 'largest', label: 'Largest transfer in dalasi', hint },
      { kind: 'text', name: 'daily', label: 'All transfers of a day in dalasi', hint },
    ];
  },
  async values(db, owner) {
    const { own, defaults } = await findRules(db, owner.owner);
    return limitValues((owner.merchant ? own : defaults).limits);
  },
  async set(tx, { owner, merchant }, form) {
    for (const kind of limitKinds) {
      const isNone = (form[kind] ?? '').trim().toLowerCase() === 'none';
      if (isNone && !merchant) throw fieldError('invalid_request', kind, 'Leave it empty: then there is no limit.');
      const amountMinor = isNone ? null : limitOf(form, kind);
      if (amountMinor === null && !isNone) await clearLimit(tx, owner, kind);
      else await setLimit(tx, owner, { kind, amountMinor });
    }
  },
});

const scheduleField: Field = {
  ...{ kind: 'select', name: 'schedule', label: 'Sub-accounts are paid out' },
  options: payoutSchedules.map((value) => ({ value, text: value === 'manual' ? 'By request' : value })),
};

const reserveFields: readonly Field[] = [
  { kind: 'text', name: 'percent', label: 'Held in reserve, in percent', hint: '0 holds nothing.' },
  { kind: 'number', name: 'hours', label: 'For how many hours' },
  {
    ...{ kind: 'number', name: 'new_for_days', label: 'Only in a business’s first days' },
    hint: 'How many days after it was created. Empty: without end.',
  },
];

async function setReserveRule(tx: Transaction, { owner, merchant }: TermsOwner, form: Form): Promise<void> {
  // Nothing typed is nothing agreed: the default holds.
  if (isCleared(form) || (form['percent'] ?? '').trim() === '') {
    await clearReserve(tx, owner);
    return;
  }
  const percentHundredths = percentOf(form);
  if (percentHundredths === 0n && !merchant) {
    throw fieldError('invalid_request', 'percent', 'A default of 0 is none: remove the default instead.');
  }
  const hours = percentHundredths === 0n ? 0n : wholeOf(form, 'hours', reserveHoursMax);
  const newForDays = (form['new_for_days'] ?? '').trim() === '' ? null : wholeOf(form, 'new_for_days', reserveDaysMax);
  await setReserve(tx, owner, { percentHundredths, hours, newForDays });
}

function wholeOf(form: Form, name: string, max: bigint): bigint {
  const text = (form[name] ?? '').trim();
  const value = /^\d{1,4}$/.test(text) ? BigInt(text) : 0n;
  if (value >= 1n && value <= max) return value;
  throw fieldError('invalid_request', name, `Type a whole number from 1 to ${max}.`);
}

const reserve = termsRoutes({
  name: 'settlement',
  heading: 'Settlement and reserve',
  effect: 'What is held already is released at its time.',
  hasDefault: true,
  fields: (_visit, owner) => [...(owner.merchant ? [scheduleField] : []), ...reserveFields, clearField(owner)],
  async values(db, { owner, merchant }) {
    const { own, fallback } = await findReserves(db, owner);
    const rule = merchant ? resolveReserve({ own, fallback }, merchant.testMode) : fallback;
    return { ...(merchant && { schedule: await payoutScheduleOf(db, merchant.id) }), ...reserveValues(rule) };
  },
  async set(tx, owner, form, values) {
    if (owner.merchant) {
      const schedule = payoutSchedules.find((each) => each === form['schedule']);
      if (!schedule) throw fieldError('invalid_request', 'schedule', 'Choose when sub-accounts are paid out.');
      await setPayoutSchedule(tx, owner.merchant.id, schedule);
    }
    if (!isAgreed({ fields: [...reserveFields, clearField(owner)], values }, form))
      await setReserveRule(tx, owner, form);
  },
});

export const limitTerms: readonly ConsoleRoute[] = [...limits, ...reserve];
