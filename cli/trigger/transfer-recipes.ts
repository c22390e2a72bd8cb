import type { EventKind } from '../../server/src/events/kinds.ts';
import { idIn } from '../api/responses.ts';
import { ApiError } from '../api/client.ts';
import { payAndWait } from './payment-recipes.ts';
import { waitFor, type TriggerContext, type CreatedRecord, type Recipe } from './recipe.ts';

type TransferKind = Extract<EventKind, `transfer.${string}` | `sub_account.${string}`>;

/** The last digits of the beneficiary's number decide (docs/testing-with-the-simulator.md). */
const paidNumber = '7000001';
const rejectedNumber = '7000002';
const waitingNumber = '7000010';
const reversedNumber = '7000012';

export const transferRecipes: Readonly<Record<TransferKind, Recipe>> = {
  'transfer.created': { how: `pays out to ${paidNumber}`, run: (context) => transfer(context, paidNumber) },
  'transfer.succeeded': { how: `pays out to ${paidNumber}`, run: (context) => transfer(context, paidNumber) },
  'transfer.failed': {
    how: `pays out to ${rejectedNumber}, which is refused`,
    run: (context) => transfer(context, rejectedNumber),
  },
  'transfer.cancelled': {
    how: `pays out to ${waitingNumber}, where it has to wait, and cancels it`,
    run: cancelTransfer,
  },
  'transfer.reversed': {
    how: `pays out to ${reversedNumber}; the network reverses it after two seconds`,
    run: (context) => transfer(context, reversedNumber),
  },
  'sub_account.payout.succeeded': {
    how: `pays a sub-account its share, and the share out to ${paidNumber}`,
    run: (context) => payOut(context, paidNumber),
  },
  'sub_account.payout.failed': {
    how: `pays a sub-account its share, and the share out to ${rejectedNumber}, which is refused`,
    run: (context) => payOut(context, rejectedNumber),
  },
};

async function transfer(
  { api, amount, newIdempotencyKey }: TriggerContext,
  accountNumber: string,
): Promise<{ objectId: string }> {
  const body = { amount, network: 'aps', account_number: accountNumber, beneficiary_name: 'dalasi trigger' };
  const accepted = await api.post('/v1/transfers', body, { 'idempotency-key': newIdempotencyKey() });
  return { objectId: idIn(accepted) };
}

/** A transfer can be cancelled before it is sent and after the network has declined to take it, but not in between. */
async function cancelTransfer(context: TriggerContext): Promise<CreatedRecord> {
  const created = await transfer(context, waitingNumber);
  await waitFor(context.clock, 'the moment in which the transfer can be cancelled', async () => {
    try {
      return await context.api.post(`/v1/transfers/${created.objectId}/cancel`);
    } catch (error) {
      if (
        error instanceof ApiError &&
        error.code === 'state_conflict' &&
        (await isPending(context, created.objectId))
      ) {
        return undefined;
      }
      throw error;
    }
  });
  return created;
}

async function isPending({ api }: TriggerContext, id: string): Promise<boolean> {
  const { body } = await api.get(`/v1/transfers/${id}`);
  return body['status'] === 'pending';
}

async function payOut(context: TriggerContext, accountNumber: string): Promise<CreatedRecord> {
  const { api, amount, newIdempotencyKey } = context;
  const account = { name: 'dalasi trigger', percentage: 50, settlement_code: 'aps', account_number: accountNumber };
  const subAccount = await api.post('/v1/sub-accounts', account);
  // Half of the payment is the share, in whole dalasi, and it takes 10 of them to be paid out at all.
  await payAndWait({ ...context, amount: amount * 2 + 20 }, { sub_account: subAccount['id'] });
  const path = `/v1/sub-accounts/${idIn(subAccount)}/payouts`;
  const accepted = await api.post(path, { amount }, { 'idempotency-key': newIdempotencyKey() });
  return { objectId: idIn(accepted) };
}
