import { createServiceLog } from '../../server/src/api/service-log.ts';
import { readConfig } from '../../server/src/configuration/config.ts';
import { fillDemo, hasDemoData, type FilledDemo } from '../../server/src/demo/fill-demo.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import type { Merchant } from '../../server/src/merchants/merchant.ts';
import { openCaseWork } from '../../server/src/operator/case-work.ts';
import { testKeys, type TestService } from './service.ts';

/** Fills a merchant of a test service with demo data, as `npm run demo` does. */
export async function fillWithDemoData(
  { db, clock, secrets, url }: TestService,
  merchant: Merchant,
  period: { seed: string; days: number; payments: number; end: Date },
): Promise<FilledDemo & { isMarked: boolean }> {
  const config = readConfig({ ...testKeys, APP_ENV: 'development', PUBLIC_URL: url });
  const log = createServiceLog({ level: 'error' });
  const { money, close } = await openCaseWork({ config, secrets, db, clock, random: systemRandom, log });
  const parts = { money, db, sealer: secrets.sealer };
  try {
    const filled = await fillDemo(parts, { ...period, merchant, onProgress: () => {} });
    return { ...filled, isMarked: await hasDemoData(money, merchant.id) };
  } finally {
    await close();
  }
}
