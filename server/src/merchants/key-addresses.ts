import { recordAudit } from '../audit/record-audit.ts';
import { BoundedMap } from '../kit/bounded-map.ts';
import { clientNetwork } from '../kit/client-address.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import type { KeyHolder } from './authenticate-key.ts';
import { insertKeyAddress } from './queries/api-keys.ts';

// Of one key and network 100 bytes; those that were forgotten cost one statement again.
const knownMax = 20_000;

interface KeyAddressContext {
  db: Database;
  clock: Clock;
  newId: () => string;
}

/** Notices an API key that is used from an address for the first time. */
export class KeyAddresses {
  readonly #context: KeyAddressContext;
  readonly #known = new BoundedMap<string, true>(knownMax);

  constructor(context: KeyAddressContext) {
    this.#context = context;
  }

  /**
   * Writes an audit entry for the first use from an address; of IPv6, from a /64 network. The request waits for it, and fails where it
   * fails. From a network that this process has seen with the key nothing is asked.
   */
  async note(holder: KeyHolder, { address, requestId }: { address: string; requestId: string }): Promise<void> {
    const { merchant, keyId, lastFour } = holder;
    const network = clientNetwork(address);
    const key = `${keyId} ${network}`;
    if (this.#known.get(key) === true) return;
    const { db, clock, newId } = this.#context;
    const use = { merchantId: merchant.id, keyId, address: network, firstUsedAt: clock.now() };
    await db.withTransaction(async (tx) => {
      if ((await tx.run(insertKeyAddress(use))) === 0) return;
      recordAudit(
        tx,
        { clock, newId },
        {
          ...{ businessId: merchant.businessId, testMode: merchant.testMode, actorType: 'key', actorId: keyId },
          ...{ actorName: keyName(lastFour), action: 'keys.use', objectType: 'api_key', objectId: keyId },
          changes: [{ field: 'address', before: null, after: network }],
          ...{ sessionId: null, requestId, address },
        },
      );
    });
    this.#known.set(key, true);
  }
}

/** As an API key is called where people are. */
export function keyName(lastFour: string): string {
  return `API key …${lastFour}`;
}
