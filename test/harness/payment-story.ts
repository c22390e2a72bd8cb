import assert from 'node:assert/strict';
import { listCases } from '../../server/src/cases/list-cases.ts';
import { listEventsOfObjects } from '../../server/src/events/list-events.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import type { Account } from '../../server/src/ledger/accounts.ts';
import { readBalance } from '../../server/src/ledger/balances.ts';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { callbackSigningSecret } from '../../server/src/networks/simulator/credentials.ts';
import type { PhoneAction } from '../../server/src/networks/simulator/moves.ts';
import { signCallback } from '../../server/src/networks/simulator/sign-callback.ts';
import { createSimulator } from '../../server/src/networks/simulator/simulator.ts';
import { createApiClient } from './api-client.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { eventually } from './eventually.ts';
import { ManualClock } from './manual-clock.ts';
import { startService } from './service.ts';
import type { TestMerchant, TestServiceOptions } from './service.ts';
import { asOwner } from './tables.ts';

type Body = Record<string, unknown>;

/** The whole service under a clock that stands still, with a merchant, and hands on the payer's simulated phone. */
export type PaymentStory = Awaited<ReturnType<typeof startPaymentStory>>;

export async function startPaymentStory(options: TestServiceOptions = {}) {
  const clock = new ManualClock();
  const service = await startService({ clock, ...options });
  const business = await service.onboard();
  const merchant = business.test;
  const { db, app } = service;
  const phone = createSimulator({
    db,
    clock,
    random: seededRandom('phone'),
    publicUrl: () => service.url,
    wakeSender: () => {},
  });
  const api = createApiClient(service.url, merchant.key);
  const pay = async (accountNumber: string, data: Body = {}, client = api): Promise<string> => {
    const request = { amount: 450.5, network: 'aps', account_number: accountNumber, ...data };
    const created = await client.post('/v1/payments', { data: request });
    assert.equal(created.status, 201, created.text);
    assert.equal(created.body['status'], 'processing');
    return String(created.body['payment_intent_id']);
  };
  const intent = async (id: string, client = api): Promise<Body> => found(await client.get(`/v1/payments/${id}`));
  const transaction = async (id: string, client = api): Promise<Body> =>
    found(await client.get(`/v1/transactions/${id}`));
  return {
    service,
    clock,
    db,
    merchant,
    phone,
    api,
    onboard: async (): Promise<{ merchant: TestMerchant; api: ApiClient }> => {
      const { test } = await service.onboard('Another Shop');
      return { merchant: test, api: createApiClient(service.url, test.key) };
    },

    /** A direct charge; answers the intent's id. */
    pay,
    /** A direct charge, and all that follows from it without time passing. */
    paySettled: async (accountNumber: string, data: Body = {}): Promise<string> => {
      const id = await pay(accountNumber, data);
      await app.drain();
      return id;
    },
    settle: (): Promise<void> => app.drain(),
    /** Time passes, and what becomes due through it is done. */
    pass: async (ms: number): Promise<void> => {
      await clock.advance(ms);
      await app.drain();
    },
    /**
     * For a call that the network never answers: waits until it has been made, and lets the time pass that the service
     * waits for an answer.
     */
    passUnanswered: async (id: string, ms: number): Promise<void> => {
      const { reference } = await transaction(id);
      await eventually('the network has got the call', async () => {
        const text = 'SELECT id FROM simulator.sessions WHERE reference = $1';
        return (await asOwner(service, text, [reference])).length === 1;
      });
      await clock.advance(ms);
      await eventually('the service has given up waiting', async () => {
        const rows = await asOwner<{ progress: string }>(
          service,
          'SELECT progress FROM charges WHERE reference = $1',
          [reference],
        );
        return rows[0]?.progress === 'unknown';
      });
    },

    intent,
    /** By the charge's id, or by the intent's: then its newest charge. */
    transaction,
    timeline: async (id: string): Promise<string[]> => {
      const { data } = found(await api.get(`/v1/payments/${id}/timeline`));
      return (data as { kind: string }[]).map(({ kind }) => kind);
    },
    /** The hosted page's forms, as a browser posts them. */
    postForm: async (id: string, form: '' | '/code' | '/confirm' | '/cancel', fields: Record<string, string> = {}) => {
      const link = String((await intent(id))['payment_link']);
      const response = await fetch(link + form, {
        method: 'POST',
        headers: { origin: service.url },
        body: new URLSearchParams(fields),
        redirect: 'manual',
      });
      await response.arrayBuffer();
      return response.status;
    },

    /** What the payer does on the simulated phone with the prompt of a charge. */
    onPhone: async (transactionId: string, action: PhoneAction): Promise<void> => {
      const { reference } = await transaction(transactionId);
      const [session] = await asOwner<{ id: string }>(
        service,
        'SELECT id FROM simulator.sessions WHERE reference = $1',
        [reference],
      );
      assert.ok(session, 'the network knows nothing of this charge');
      const acted = await phone.act(session.id, action);
      assert.equal(acted?.done, true, `the phone does not offer ${action}`);
      await app.drain();
    },
    /** From here on the networks' callbacks get lost on the way, until they are let through again. */
    loseCallbacks: async (): Promise<void> => {
      // Not a rule: what was prepared under DO INSTEAD NOTHING stays nothing after the rule has gone.
      await asOwner(service, `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`);
      await asOwner(
        service,
        'CREATE TRIGGER lost BEFORE INSERT ON simulator.callbacks FOR EACH ROW EXECUTE FUNCTION lose()',
      );
    },
    letCallbacksThrough: async (): Promise<void> => {
      await asOwner(service, 'DROP FUNCTION lose() CASCADE');
    },
    /** A callback as a network sends it, or as somebody else does. */
    sendCallback: async (network: string, data: unknown, forged: Forgery = {}): Promise<number> => {
      const body = JSON.stringify({ id: 'evt_test', type: 'collection.completed', data });
      const secret =
        forged.secret ?? callbackSigningSecret(service.secrets.simulatorCallbackSecret, forged.signedBy ?? network);
      const signature = signCallback(secret, { sentAt: forged.sentAt ?? clock.now(), body });
      const response = await fetch(`${service.url}/networks/${network}-test/callbacks`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sim-signature': forged.signature ?? signature },
        body: forged.body ?? body,
      });
      await response.arrayBuffer();
      return response.status;
    },
    /** What the network would report of a charge that was paid. */
    sessionOf: async (transactionId: string, changes: Body = {}): Promise<Body> => {
      const charge = await transaction(transactionId);
      return {
        id: 'session',
        network: charge['payment_method'],
        reference: charge['reference'],
        status: 'complete',
        paid: {
          gross_amount: Number(charge['amount_paid']).toFixed(2),
          fee: '0.00',
          currency: 'GMD',
          transaction_id: `T-${String(charge['id'])}`,
        },
        ...changes,
      };
    },

    events: async (id: string, owner = merchant): Promise<string[]> => {
      const events = await listEventsOfObjects(db, owner.merchant.id, [id]);
      assert.deepEqual(events.map(({ sequence }) => Number(sequence)), events.map((_event, index) => index + 1));
      return events.map(({ kind }) => kind);
    },
    cases: async (transactionId: string): Promise<string[]> => {
      const all = await listCases(db, null, 1_000);
      return all.filter(({ subjectId }) => subjectId === transactionId).map(({ kind }) => kind);
    },
    movements: async (transactionId: string): Promise<string[]> => {
      const rows = await asOwner<{ text: string }>(
        service,
        `SELECT flow || ' ' || debit_account || ' → ' || credit_account || ' ' || amount AS text
         FROM ledger_movements WHERE source_id = $1 ORDER BY id`,
        [transactionId],
      );
      return rows.map(({ text }) => text);
    },
    balance: (account: Account, owner = merchant): Promise<bigint> =>
      readBalance(db, { merchantId: owner.merchant.id, account, currency: 'GMD' }),
    verify: async (): Promise<void> => assert.equal((await verifyLedger(db)).finding, null),
    stop: (): Promise<void> => service.stop(),
  };
}

interface Forgery {
  secret?: string;
  signedBy?: string;
  sentAt?: Date;
  signature?: string;
  body?: string;
}

function found(answer: ApiAnswer): Body {
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}
