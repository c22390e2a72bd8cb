import { readConfig } from '../../server/src/configuration/config.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createBusiness } from '../../server/src/merchants/create-business.ts';
import { createApiKey } from '../../server/src/merchants/manage-keys.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';

export interface MerchantWithKey {
  merchantId: string;
  key: string;
}

/** Adds test merchants of new businesses, with keys for the service on this database and data directory. */
export async function addMerchants(
  { adminUrl, dataDirectory }: { adminUrl: string; dataDirectory: string },
  count: number,
): Promise<MerchantWithKey[]> {
  const config = readConfig({ APP_ENV: 'development', DATABASE_URL: adminUrl, DATA_DIR: dataDirectory });
  const { pepper } = readSecrets(config, systemRandom);
  const newId = (): string => uuidV7(systemClock, systemRandom);
  const context = { clock: systemClock, random: systemRandom, newId, pepper };
  const db = openDatabase({ url: adminUrl, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
  try {
    const merchants: MerchantWithKey[] = [];
    for (let number = 1; number <= count; number += 1) {
      const business = { name: `Business ${number}`, rateLimitPerSecond: 0n };
      const { test } = await db.withTransaction((tx) => createBusiness(tx, context, business));
      const { text: key } = await createApiKey(db, context, test, { name: 'Benchmark' });
      merchants.push({ merchantId: test.id, key });
    }
    return merchants;
  } finally {
    await db.close();
  }
}
