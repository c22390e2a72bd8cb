import type { EventKind } from '../../server/src/events/kinds.ts';
import { idIn } from '../api/answers.ts';
import { ApiRefused } from '../api/client.ts';
import { payAndWait } from './payment-recipes.ts';
import { until } from './recipe.ts';
import type { Kitchen, Made, Recipe } from './recipe.ts';

type TransferKind = Extract<EventKind, `transfer.${string}` | `sub_account.${string}`>;

/** The last digits of the beneficiary's number decide (docs/testing-with-the-simulator.md). */
const isPaid = '7000001';
const isRefused = '7000002';
const waits = '7000010';
const comesBack = '7000012';

export const transferRecipes: Readonly<Record<TransferKind, Recipe>> = {
  'transfer.created': { how: `pays out to ${isPaid}`, make: (kitchen) => transfer(kitchen, isPaid) },
  'transfer.succeeded': { how: `pays out to ${isPaid}`, make: (kitchen) => transfer(kitchen, isPaid) },
  'transfer.failed': {
    how: `pays out to ${isRefused}, which is refused`,
    make: (kitchen) => transfer(kitchen, isRefused),
  },
  'transfer.cancelled': { how: `pays out to ${waits}, where it has to wait, and cancels it`, make: cancelled },
  'transfer.reversed': {
    how: `pays out to ${comesBack}; the network takes it back after two seconds`,
    make: (kitchen) => transfer(kitchen, comesBack),
  },
  'sub_account.payout.succeeded': {
    how: `pays a sub-account its share, and the share out to ${isPaid}`,
    make: (kitchen) => payOut(kitchen, isPaid),
  },
  'sub_account.payout.failed': {
    how: `pays a sub-account its share, and the share out to ${isRefused}, which is refused`,
    make: (kitchen) => payOut(kitchen, isRefused),
  },
};

async function transfer({ api, amount, newKey }: Kitchen, accountNumber: string): Promise<{ objectId: string }> {
  const body = { amount, network: 'aps', account_number: accountNumber, beneficiary_name: 'dalasi trigger' };
  const accepted = await api.post('/v1/transfers', body, { 'idempotency-key': newKey() });
  return { objectId: idIn(accepted) };
}

/** It can be cancelled before it is sent and once the network has said that it takes none, but not in between. */
async function cancelled(kitchen: Kitchen): Promise<Made> {
  const made = await transfer(kitchen, waits);
  await until(kitchen.clock, 'the moment in which the transfer can be cancelled', async () => {
    try {
      return await kitchen.api.post(`/v1/transfers/${made.objectId}/cancel`);
    } catch (error) {
      if (error instanceof ApiRefused && error.code === 'state_conflict' && (await isPending(kitchen, made.objectId))) {
        return undefined;
      }
      throw error;
    }
  });
  return made;
}

async function isPending({ api }: Kitchen, id: string): Promise<boolean> {
  const { body } = await api.get(`/v1/transfers/${id}`);
  return body['status'] === 'pending';
}

async function payOut(kitchen: Kitchen, accountNumber: string): Promise<Made> {
  const { api, amount, newKey } = kitchen;
  const account = { name: 'dalasi trigger', percentage: 50, settlement_code: 'aps', account_number: accountNumber };
  const subAccount = await api.post('/v1/sub-accounts', account);
  // Half of the payment is the share, in whole dalasi, and it takes 10 of them to be paid out at all.
  await payAndWait({ ...kitchen, amount: amount * 2 + 20 }, { sub_account: subAccount['id'] });
  const path = `/v1/sub-accounts/${idIn(subAccount)}/payouts`;
  const accepted = await api.post(path, { amount }, { 'idempotency-key': newKey() });
  return { objectId: idIn(accepted) };
}
