import { randomUUID } from 'node:crypto';
import type { Account } from '../../server/src/accounts/account.ts';
import { requestTransfer } from '../../server/src/transfers/transfer-requests.ts';
import type { TestService } from './service.ts';

/** Somebody requests a payout that waits for a second person; returns the request's id. */
export async function createWaitingTransfer(
  { db, clock }: TestService,
  { merchantId, account, name = 'Awa' }: { merchantId: string; account: Account; name?: string | undefined },
): Promise<string> {
  const id = randomUUID();
  await db.withTransaction((tx) =>
    requestTransfer(tx, {
      ...{
        merchantId,
        id,
        requestedBy: account.id,
        requestedByName: account.name,
        subAccountId: null,
        amountMinor: 2_000n,
      },
      body: { amount: 20, network: 'wave', account_number: '7000001', beneficiary_name: name },
      createdAt: clock.now(),
    }),
  );
  return id;
}
