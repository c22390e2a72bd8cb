import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { AppError } from '../api/app-error.ts';
import type { Intent } from '../payments/intent.ts';
import { createCollectWorld, refusalOf, type CollectWorld } from './collect-world.corpus.ts';
import { payLink } from './pay-link.ts';
import { payOnce } from './pay-once.ts';

let world: CollectWorld;

before(async () => {
  world = await createCollectWorld();
});
after(async () => {
  await world.verify();
  await world.close();
});

const cause = { requestId: 'req_test' };
const countPayment = () => Promise.resolve();

test('ten presses at once on a live number make one payment, though the number is prompted once', async () => {
  const context = {
    ...world.context,
    networks: createNetworkRegistry([new ScriptedNetwork('wave', { testMode: false })]),
  };
  const live = { ...world.merchant, testMode: false, liveApprovedAt: new Date(0) };
  const link = await world.newLink({ amountMinor: 45_000n });
  const form = { merchantId: live.id, formHash: 'live' };
  const choice = { network: 'wave', accountNumber: '3012345' };
  const press = () =>
    payOnce(context, {
      form,
      cause,
      countPayment,
      create: (tx) =>
        payLink(tx, context, live, link, {
          amountMinor: null,
          shownTotalMinor: null,
          customFieldsValues: {},
          choice,
          formHash: form.formHash,
        }),
    });
  const intents = await Promise.all(Array.from({ length: 10 }, press));
  assert.equal(new Set(intents.map(({ id }) => id)).size, 1);
  assert.deepEqual([intents[0]?.status, intents[0]?.attempts], ['processing', 1n]);
});

test('a press that the page’s limit refuses leads to the payment that another press has made meanwhile', async () => {
  const link = await world.newLink({ amountMinor: 45_000n });
  const form = { merchantId: world.merchant.id, formHash: 'limited' };
  const create = (): Promise<Intent> => world.throughLink(link, { formHash: form.formHash });
  const refusal = () => new AppError('rate_limited', 'Many people are paying here.', { retryAfterSeconds: 1 });
  const limited = (meanwhile: () => Promise<unknown>) =>
    payOnce(world.context, {
      form,
      cause,
      countPayment: async () => {
        await meanwhile();
        throw refusal();
      },
      create: () => assert.fail('nothing is written after the refusal'),
    });
  assert.match(await refusalOf(limited(() => Promise.resolve())), /^rate_limited/);
  const other: Intent[] = [];
  const found = await limited(async () => other.push(await create()));
  assert.equal(found.id, other[0]?.id);
});
