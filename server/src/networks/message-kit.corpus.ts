import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOpen, collectionsOf } from './connector-kit.corpus.ts';
import type { Connector, RawCallback, StartCollection } from './contract.ts';

/** A connector that calls nobody: the messages of a shop's phone prove what was paid. */
export interface MessageKitWorld {
  connector: Connector;
  collection: StartCollection;
  /** A message of the network as the phone forwards it: signed with its key, and read as genuine. */
  forwarded: RawCallback;
  /** The same signature over another body, by whoever has the key. */
  sign(body: Uint8Array): RawCallback;
  /** How long a forwarded message is read. */
  ageMaxMs: number;
}

/** Tests such a connector; call it once in a test file of the connector. */
export function testMessageKit(name: string, start: () => MessageKitWorld): void {
  test(`${name}: a repeated order waits for one payment, and a look-up pays nothing`, async () => {
    const { connector, collection } = start();
    const collections = collectionsOf({ connector });
    const first = await collections.start(collection);
    assert.ok(first.state === 'awaiting_payer', first.state);
    assert.deepEqual(await collections.start(collection), first);
    const { handles } = first;
    assert.deepEqual(await collections.lookUp({ reference: collection.reference, handles }), first);
    assertOpen(await collections.continue({ ...collection, handles, code: '123456' }), 'a code');
    const never = await collections.lookUp({ reference: collection.reference, handles: {} });
    assert.equal(never.state, 'not_found', 'the payer has seen nothing yet');
    const cancelled = await collections.cancel({ reference: collection.reference, handles });
    assert.ok(cancelled.state === 'refused' && cancelled.failure.code === 'cancelled');
  });

  test(`${name}: a forged, changed or old message is refused, and the same one is read the same`, () => {
    const { connector, forwarded, ageMaxMs } = start();
    const read = (message: RawCallback) => connector.messages?.read(message);
    const genuine = read(forwarded);
    assert.ok(genuine?.accepted && genuine.message);
    assert.deepEqual(read(forwarded), genuine);
    const text = Buffer.from(forwarded.body).toString();
    const later = (ms: number) => new Date(forwarded.receivedAt.getTime() + ms);
    const forged: RawCallback[] = [
      { ...forwarded, headers: {} },
      { ...forwarded, body: Buffer.from(text.replace('450.00', '950.00')) },
      { ...forwarded, body: Buffer.from(`${text} `) },
      { ...forwarded, body: Buffer.alloc(0) },
      { ...forwarded, receivedAt: later(ageMaxMs + 1_000) },
      { ...forwarded, receivedAt: later(-60 * 60_000) },
    ];
    for (const one of forged) assert.equal(read(one)?.accepted, false);
    const callback = connector.readCallback(forwarded);
    assert.equal(callback.accepted, false, 'a network without an interface calls nobody back');
  });

  test(`${name}: no bytes make reading throw, also with the right key`, () => {
    const { connector, sign } = start();
    const hostile = ['', '{', '[]', 'null', '{"event":1}', '{"event":"sms:received"}', '['.repeat(30_000)];
    for (const bytes of [...hostile.map((one) => Buffer.from(one)), Buffer.from([0xff, 0x00, 0xfe])]) {
      const reading = connector.messages?.read(sign(bytes));
      assert.equal(reading?.accepted, false, Buffer.from(bytes).toString().slice(0, 40));
    }
  });
}
