import { randomBytes, randomUUID } from 'node:crypto';
import { fingerprintOf } from '../../server/src/http/fingerprint.ts';
import { runOnce } from '../../server/src/http/idempotency.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { SharedCommits } from '../../server/src/kit/shared-commits.ts';
import { createSealer } from '../../server/src/kit/seal.ts';
import { createTransfer, type NewTransfer } from '../../server/src/transfers/create-transfer.ts';
import { transferToWire } from '../../server/src/transfers/transfer-wire.ts';
import type { Transfer } from '../../server/src/transfers/transfer.ts';
import { freshIds, recorder, recordingContext, type RecordedStep, type RecordedTransaction } from './recording.ts';

export const transferPath = '/v1/transfers';

const transferFields = { amount: 1, network: 'aps', account_number: '7001234', beneficiary_name: 'Awa Ceesay' };

/** A transfer, as the body of POST /v1/transfers: 1 dalasi, so that test money lasts. */
export const transferBody = JSON.stringify(transferFields);

const transferRequest: NewTransfer = {
  amountMinor: 100n,
  currency: null,
  network: transferFields.network,
  accountNumber: transferFields.account_number,
  beneficiaryName: transferFields.beneficiary_name,
  narration: null,
  callbackUrl: null,
  metadata: {},
};

// A reference starts with the merchant's short id.
const referenceHeadLength = 8;

/**
 * Accepts a transfer by the service's own use case with an idempotency key, as the route does, and records the
 * statements of the second one: the first also folds the merchant's earlier movements.
 */
export async function recordTransfer(db: Database, merchantId: string): Promise<RecordedTransaction> {
  await acceptOnce(db, merchantId);
  return acceptOnce(db, merchantId);
}

async function acceptOnce(db: Database, merchantId: string): Promise<RecordedTransaction> {
  const ids: string[] = [];
  const steps: RecordedStep[] = [];
  const context = recordingContext(db, ids);
  const merchant = await context.merchants.byId(merchantId);
  if (!merchant) throw new Error('there is no such merchant');
  const created: Transfer[] = [];
  const key = randomUUID();
  const fingerprint = fingerprintOf('POST', transferFields);
  const use = {
    requestId: 'req_benchmark',
    merchantId,
    path: transferPath,
    key,
    fingerprint,
    fingerprintAsSent: fingerprint,
  };
  const sealer = createSealer(randomBytes(32).toString('base64'));
  const commits = new SharedCommits(recordingDatabase(db, steps), { aloneMax: 1 });
  await runOnce(
    { clock: systemClock, sealer },
    use,
    async (tx) => {
      const transfer = await createTransfer(tx, context, merchant, transferRequest);
      created.push(transfer);
      return { statusCode: 201, body: JSON.stringify(transferToWire(merchant, transfer)) };
    },
    {
      transact: (change, options) => commits.runAlone(change, options),
      errorResponse: (refusal) => {
        throw refusal;
      },
      permanentReplay: {
        subjectOf: ({ body }) => (JSON.parse(body) as { id: string }).id,
        replay: () => Promise.reject(new Error('a new key has made nothing yet')),
      },
    },
  );
  const { reference } = created[0] ?? { reference: '' };
  return {
    steps,
    freshValues: () => {
      const tail = randomBytes(reference.length).toString('hex').slice(referenceHeadLength, reference.length);
      return freshIds(ids)
        .set(key, randomUUID())
        .set(reference, reference.slice(0, referenceHeadLength) + tail);
    },
  };
}

/** Every statement goes through the transaction: one beside it would not be recorded. */
function recordingDatabase(db: Database, steps: RecordedStep[]): Database {
  const refuse = (): never => {
    throw new Error('accepting a transfer asks outside its transaction now; the bare loop has to do so too');
  };
  return {
    rows: refuse,
    row: refuse,
    run: refuse,
    dedicatedClient: refuse,
    close: refuse,
    waiting: 0,
    withTransaction: (body, cause) => db.withTransaction((tx) => body(recorder(tx, steps)), cause),
  };
}
