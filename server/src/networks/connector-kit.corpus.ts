import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { ManualClock } from '../../../test/harness/manual-clock.ts';
import { withCheckedIds } from './checked-connector.ts';
import type {
  CollectionOperations,
  CollectionResponse,
  Connector,
  PayoutOperations,
  PayoutResponse,
  ProviderNotification,
  RawCallback,
  RefundOperations,
  StartCollection,
  StartPayout,
  StartRefund,
} from './contract.ts';
import type { KitFault, KitProxy } from './kit-proxy.corpus.ts';

/**
 * What any connector must get right, over its simulated network: the failure modes of docs/networks.md, "When a call gets no
 * response", that can occur on every wire. What only one wire has, its own tests have.
 */
export interface KitWorld {
  /** Calls the network through `proxy`. */
  connector: Connector;
  proxy: KitProxy;
  clock: ManualClock;
  /** Requests with a new reference, to a number whose last four digits choose the scenario. */
  collection(number: string): StartCollection;
  payout(number: string): StartPayout;
  /** How many records the network has under a reference. */
  recordsOf(request: { reference: string }): Promise<number>;
  /** The callbacks that are due now, as they came. */
  callbacks(): Promise<RawCallback[]>;
  close(): Promise<void>;
}

/** How the network lies, in the words of its wire. Each changes the text of a response. */
export interface KitWire {
  anotherAmount: (body: string) => string;
  anotherCurrency: (body: string) => string;
  unknownStatus: (body: string) => string;
  /** Its id of the record becomes this text. */
  anotherId: (body: string, id: string) => string;
  anotherReference: (body: string) => string;
  /** The documented errors for a credential that is not valid, and for too many requests. */
  wrongCredential: { status: number; body: string };
  /** Null where the network documents none. */
  tooManyRequests: { status: number; body: string } | null;
  paysOut: boolean;
  refunds: boolean;
  /** Whether 200 without a body is how the network says that a refund is done. */
  refundsWithoutBody: boolean;
}

/** Faults after which nobody knows whether the network has executed the request. */
export const unclear: readonly [string, (arrives: boolean) => KitFault][] = [
  ['the connection is reset', (arrives) => ({ kind: 'reset', arrives })],
  ['500', (arrives) => ({ kind: 'response', status: 500, body: '{"code":"x"}', arrives })],
  ['502 of a proxy', (arrives) => ({ kind: 'response', status: 502, body: '<html>bad gateway</html>', arrives })],
  ['403 of a proxy', (arrives) => ({ kind: 'response', status: 403, body: '<html>forbidden</html>', arrives })],
  ['404 of a proxy', (arrives) => ({ kind: 'response', status: 404, body: '<html>not found</html>', arrives })],
  ['a page', (arrives) => ({ kind: 'response', status: 200, body: '<html>welcome</html>', arrives })],
  ['nothing', (arrives) => ({ kind: 'response', status: 200, body: '', arrives })],
  ['half a body', (arrives) => ({ kind: 'response', status: 200, body: '{"id":"1","sta', arrives })],
  ['JSON of another kind', (arrives) => ({ kind: 'response', status: 200, body: '[{"status":"paid"}]', arrives })],
  ['deep nesting', (arrives) => ({ kind: 'response', status: 200, body: '['.repeat(30_000), arrives })],
];

// Their last four digits are those of docs/testing-with-the-simulator.md.
export const numbers = {
  paid: '7410001',
  refused: '7410002',
  silent: '7410004',
  shuffled: '7410007',
  empty: '7410010',
  waiting: '7411234',
};

/** Tests a connector; call it once in a test file of the connector. `parts` test what not every network has. */
export function testConnectorKit(
  name: string,
  wire: KitWire,
  start: () => Promise<KitWorld>,
  parts: readonly ((kit: Kit) => void)[] = [],
): void {
  let world: KitWorld;
  before(async () => {
    world = await start();
  });
  afterEach(async () => {
    world.proxy.calls.length = 0;
    await world.callbacks();
  });
  after(() => world.close());
  const kit: Kit = { name, wire, world: () => world };
  testCollections(kit);
  if (wire.paysOut) testPayouts(kit);
  if (wire.refunds) testRefunds(kit);
  for (const part of parts) part(kit);
  testCallbacks(kit);
}

export interface Kit {
  name: string;
  wire: KitWire;
  world: () => KitWorld;
}

export const collectionsOf = ({ connector }: Pick<KitWorld, 'connector'>): CollectionOperations => {
  assert.ok(connector.collections);
  return withCheckedIds(connector).collections ?? connector.collections;
};
export const payoutsOf = ({ connector }: KitWorld): PayoutOperations => {
  assert.ok(connector.payouts);
  return withCheckedIds(connector).payouts ?? connector.payouts;
};
const refundsOf = ({ connector }: KitWorld): RefundOperations => {
  assert.ok(connector.refunds);
  return withCheckedIds(connector).refunds ?? connector.refunds;
};

/** Fails for a state that is final; a lost answer is never one. */
export function assertOpen(response: CollectionResponse | PayoutResponse, message: string): void {
  assert.ok(
    !['succeeded', 'refused', 'reversed', 'not_accepted'].includes(response.state),
    `${message}: ${response.state}`,
  );
}

const isUnavailable = (response: CollectionResponse | PayoutResponse): boolean =>
  (response.state === 'refused' && response.failure.code === 'network_unavailable') ||
  (response.state === 'not_accepted' && response.reason === 'network_unavailable');

function testCollections({ name, wire, world }: Kit): void {
  for (const arrives of [true, false]) {
    test(`${name}: a collection whose answer is lost is looked up (it arrived: ${arrives})`, async () => {
      const collections = collectionsOf(world());
      for (const [fault, breaking] of unclear) {
        const request = world().collection(numbers.paid);
        world().proxy.breakNext(breaking(arrives));
        assertOpen(await collections.start(request), fault);
        const found = await collections.lookUp({ reference: request.reference, handles: {} });
        assert.equal(found.state, arrives ? 'succeeded' : 'not_found', fault);
        assert.equal(await world().recordsOf(request), arrives ? 1 : 0, fault);
      }
    });
  }

  test(`${name}: a look-up without a clear answer says nothing about the collection`, async () => {
    const collections = collectionsOf(world());
    const request = world().collection(numbers.paid);
    await collections.start(request);
    for (const [fault, breaking] of unclear) {
      world().proxy.breakNext(breaking(true));
      assertOpen(await collections.lookUp({ reference: request.reference, handles: {} }), fault);
    }
    const refused = await world().proxy.refusing(() =>
      collections.lookUp({ reference: request.reference, handles: {} }),
    );
    assertOpen(refused, 'refused connection');
  });

  test(`${name}: a collection that certainly did not arrive is refused for now, and charges nothing`, async () => {
    const collections = collectionsOf(world());
    const request = world().collection(numbers.paid);
    assert.ok(isUnavailable(await world().proxy.refusing(() => collections.start(request))), 'refused connection');
    for (const error of [wire.wrongCredential, wire.tooManyRequests].filter((one) => one !== null)) {
      world().proxy.breakNext({ kind: 'response', ...error, arrives: false });
      assert.ok(isUnavailable(await collections.start(request)), String(error.status));
      world().proxy.breakNext({ kind: 'response', ...error, arrives: false });
      assertOpen(await collections.lookUp({ reference: request.reference, handles: {} }), `look-up ${error.status}`);
    }
    assert.equal(await world().recordsOf(request), 0);
  });

  test(`${name}: a repeated reference collects once, and accepted is not paid`, async () => {
    const collections = collectionsOf(world());
    const request = world().collection(numbers.waiting);
    const first = await collections.start(request);
    assert.ok(first.state === 'awaiting_payer' || first.state === 'processing', first.state);
    assertOpen(await collections.start(request), 'repeated');
    assert.equal(await world().recordsOf(request), 1);
  });

  test(`${name}: both forms of a number reach one wallet`, async () => {
    const collections = collectionsOf(world());
    const request = world().collection(numbers.paid);
    const old = { ...request, payerNumber: `+220${numbers.paid}` };
    await collections.start(old);
    assert.equal((await collections.lookUp({ reference: old.reference, handles: {} })).state, 'succeeded');
  });

  test(`${name}: another amount or currency is reported as it came, and what is not understood is unknown`, async () => {
    const collections = collectionsOf(world());
    const request = world().collection(numbers.paid);
    await collections.start(request);
    const lookUp = (rewrite: (body: string) => string) => {
      // More than any look-up takes: some ask for a link first.
      world().proxy.breakNext({ kind: 'rewrite', rewrite }, { kind: 'rewrite', rewrite });
      return collections.lookUp({ reference: request.reference, handles: {} }).finally(() => world().proxy.repair());
    };
    const more = await lookUp(wire.anotherAmount);
    assert.ok(more.state === 'succeeded' && more.providerTransaction.amountMinor !== request.amountMinor);
    const foreign = await lookUp(wire.anotherCurrency);
    assert.ok(foreign.state === 'succeeded' && foreign.providerTransaction.currency !== request.currency);
    for (const rewrite of [
      wire.unknownStatus,
      wire.anotherReference,
      ...hostileAmounts.map((amount) => (body: string) => wire.anotherAmount(body).replace('101', amount)),
      ...hostileIds.map((id) => (body: string) => wire.anotherId(body, id)),
    ]) {
      const response = await lookUp(rewrite);
      assert.equal(response.state, 'unknown', JSON.stringify(response).slice(0, 200));
    }
  });
}

// No amounts of money, in any wire's form.
const hostileAmounts = ['-101', '101.001', '1'.repeat(400), 'NaN', '0x65', '+101'];
// Not what JSON would refuse, and nothing that an id of ours is stored, shown or logged as.
export const hostileIds = ['', ' ', 'a b', '<script>', 'x'.repeat(20_000), 'ä', '‮1'];

function testPayouts({ name, wire, world }: Kit): void {
  for (const arrives of [true, false]) {
    test(`${name}: a payout whose answer is lost is looked up, and paid once if it is sent again (${arrives})`, async () => {
      const payouts = payoutsOf(world());
      for (const [fault, breaking] of unclear) {
        const request = world().payout(numbers.paid);
        world().proxy.calls.length = 0;
        world().proxy.breakNext(breaking(arrives));
        assertOpen(await payouts.start(request), fault);
        const found = await payouts.lookUp({ reference: request.reference, handles: {} });
        assert.equal(found.state, arrives ? 'succeeded' : 'not_found', fault);
        assert.equal((await payouts.start(request)).state, 'succeeded', fault);
        assert.equal(await world().recordsOf(request), 1, fault);
        const bodies = world()
          .proxy.calls.filter(({ method }) => method === 'POST')
          .map(({ body }) => body);
        assert.equal(new Set(bodies).size, 1, 'the same bytes each time');
      }
    });
  }

  test(`${name}: a payout that certainly did not arrive may be sent again, and so with an empty float`, async () => {
    const payouts = payoutsOf(world());
    const request = world().payout(numbers.paid);
    assert.ok(isUnavailable(await world().proxy.refusing(() => payouts.start(request))), 'refused connection');
    for (const error of [wire.wrongCredential, wire.tooManyRequests].filter((one) => one !== null)) {
      world().proxy.breakNext({ kind: 'response', ...error, arrives: false });
      assert.ok(isUnavailable(await payouts.start(request)), String(error.status));
      world().proxy.breakNext({ kind: 'response', ...error, arrives: false });
      assertOpen(await payouts.lookUp({ reference: request.reference, handles: {} }), `look-up ${error.status}`);
    }
    assert.equal(await world().recordsOf(request), 0);
    assert.equal((await payouts.start(request)).state, 'succeeded');
    const empty = await payouts.start(world().payout(numbers.empty));
    assert.deepEqual(empty, { state: 'not_accepted', reason: 'float_empty' });
  });

  test(`${name}: a payout that is accepted is not paid, and what is not understood of one is unknown`, async () => {
    const payouts = payoutsOf(world());
    assert.equal((await payouts.start(world().payout(numbers.silent))).state, 'processing');
    const request = world().payout(numbers.paid);
    await payouts.start(request);
    const lookUp = (rewrite: (body: string) => string) => {
      world().proxy.breakNext({ kind: 'rewrite', rewrite }, { kind: 'rewrite', rewrite });
      return payouts.lookUp({ reference: request.reference, handles: {} }).finally(() => world().proxy.repair());
    };
    const less = await lookUp(wire.anotherAmount);
    assert.ok(less.state === 'succeeded' && less.providerTransaction.amountMinor !== request.amountMinor);
    for (const rewrite of [
      wire.unknownStatus,
      wire.anotherReference,
      ...hostileIds.map((id) => (body: string) => wire.anotherId(body, id)),
    ]) {
      const response = await lookUp(rewrite);
      assert.equal(response.state, 'unknown', JSON.stringify(response).slice(0, 200));
    }
  });
}

function testRefunds({ name, wire, world }: Kit): void {
  test(`${name}: a refund whose answer is lost ends as it ended at the network, and happens once`, async () => {
    const refunds = refundsOf(world());
    for (const [fault, breaking] of unclear) {
      if (fault === 'nothing' && wire.refundsWithoutBody) continue;
      const paid = await collectionsOf(world()).start(world().collection(numbers.paid));
      assert.ok(paid.state === 'succeeded');
      const { reference, callbackUrl, amountMinor, currency } = world().payout(numbers.paid);
      const originalTransactionId = paid.providerTransaction.transactionId;
      const request: StartRefund = {
        reference,
        callbackUrl,
        amountMinor,
        currency,
        description: 'Refund',
        originalTransactionId,
      };
      // Some ask for the payment first.
      world().proxy.breakNextWith('POST', breaking(true));
      assertOpen(await refunds.start(request), fault);
      const found = await refunds.lookUp({ ...request, handles: {} });
      assert.equal(found.state, 'succeeded', fault);
      assert.equal(await world().recordsOf({ reference: originalTransactionId }), 1, fault);
    }
  });
}

function testCallbacks({ name, world }: Kit): void {
  const read = (callback: RawCallback): ProviderNotification[] => {
    const reading = world().connector.readCallback(callback);
    return reading.accepted ? reading.notifications : [];
  };

  test(`${name}: callbacks in any order and number contradict nothing, and the look-up knows the end`, async () => {
    const request = world().collection(numbers.shuffled);
    await collectionsOf(world()).start(request);
    await world().clock.advance(2_000);
    const callbacks = await world().callbacks();
    for (const notification of callbacks.flatMap(read)) {
      assert.equal(notification.reference, request.reference);
      const state = notification.response?.state ?? 'hint';
      assert.ok(['hint', 'succeeded', 'awaiting_payer', 'processing'].includes(state), state);
    }
    const found = await collectionsOf(world()).lookUp({ reference: request.reference, handles: {} });
    assert.equal(found.state, 'succeeded');
  });

  test(`${name}: a callback that comes before our response is matched by our own reference`, async () => {
    const request = world().collection(numbers.shuffled);
    world().proxy.breakNext({ kind: 'reset', arrives: true });
    assertOpen(await collectionsOf(world()).start(request), 'lost');
    await world().clock.advance(2_000);
    const notifications = (await world().callbacks()).flatMap(read);
    assert.ok(notifications.length > 0, 'the network calls back');
    for (const { operation, reference } of notifications) {
      assert.deepEqual([operation, reference], ['collection', request.reference]);
    }
  });

  test(`${name}: a forged, changed or replayed callback is refused, or only a hint`, async () => {
    await collectionsOf(world()).start(world().collection(numbers.paid));
    const [callback] = await world().callbacks();
    // A network that says in its response how it ended may not call back.
    if (!callback) return;
    const text = Buffer.from(callback.body).toString();
    const forged: RawCallback[] = [
      { ...callback, headers: { 'content-type': 'application/json' } },
      { ...callback, body: Buffer.from(text.replace(/"(?:100|100\.00)"/g, '"1000"')) },
      { ...callback, body: Buffer.from(`${text} `) },
      { ...callback, body: Buffer.alloc(0) },
      { ...callback, body: Buffer.from([0xff, 0x00, 0xfe]) },
      { ...callback, receivedAt: new Date(callback.receivedAt.getTime() + 24 * 60 * 60_000) },
    ];
    for (const one of forged) {
      assert.ok(
        read(one).every(({ response }) => response === null),
        'nothing but a hint',
      );
    }
  });
}
