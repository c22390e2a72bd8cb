import { checkName } from '../accounts/sign-up.ts';
import { listMissingChecks } from '../console/businesses/approval.ts';
import { table, UsageError } from '../kit/command-line.ts';
import { isUuid } from '../kit/ids.ts';
import { approveLive, getBusiness } from '../merchants/business-status.ts';
import { merchantsKnownForMs } from '../merchants/merchant-directory.ts';
import { listMerchants } from '../merchants/manage-keys.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { auditCommand } from './audit-command.ts';
import type { Command } from './command.ts';
import { merchantOf } from './merchant-of.ts';
import { onboardBusiness } from './onboard-business.ts';

const createBusiness: Command = {
  name: 'businesses create',
  usage: '<name>',
  summary: 'Create a business with a test and a live merchant',
  async run(context, { positionals }) {
    const { db, onboarding } = context;
    const name = (positionals[0] ?? '').trim();
    checkName(name, 'name');
    const { test, live } = await db.withTransaction(async (tx) => {
      const created = await onboardBusiness(tx, onboarding, { name });
      const { businessId } = created.test.merchant;
      const object = { type: 'business', id: businessId };
      auditCommand(tx, context, { action: 'businesses.create', object, businessId, sent: { name } });
      return created;
    });
    const data = {
      business_id: test.merchant.businessId,
      test: {
        merchant_id: test.merchant.id,
        webhook_endpoint_id: test.endpoint.id,
        webhook_secret: test.webhookSecret,
      },
      live: {
        merchant_id: live.merchant.id,
        webhook_endpoint_id: live.endpoint.id,
        webhook_secret: live.webhookSecret,
      },
    };
    const text = [
      `Business ${name}: ${data.business_id}`,
      `  test merchant ${data.test.merchant_id}, webhook secret ${data.test.webhook_secret}`,
      `  live merchant ${data.live.merchant_id}, webhook secret ${data.live.webhook_secret}`,
      'The webhook secrets are not shown again. Create API keys with: keys create --merchant <merchant id>',
    ].join('\n');
    return { text, data, exitCode: 0 };
  },
};

const approveBusiness: Command = {
  name: 'businesses approve',
  usage: '<business id>',
  summary: 'Let a business take real money',
  details: '  Does not need the checklist of the console, and lists what is not ticked there.',
  async run(context, { positionals }) {
    const { db, clock } = context;
    const [id = ''] = positionals;
    if (!isUuid(id)) throw new UsageError(`There is no business ${id}. See: businesses list`);
    const { name } = await getBusiness(db, id);
    await db.withTransaction(async (tx) => {
      await approveLive(tx, { clock }, id);
      const object = { type: 'business', id };
      auditCommand(tx, context, { action: 'businesses.approve', object, businessId: id });
    });
    const unchecked = await listMissingChecks(db, id);
    // A script's next request must find it approved.
    await clock.sleep(merchantsKnownForMs);
    const text = [
      `${name} can take real money.`,
      ...(unchecked.length === 0 ? [] : ['Not ticked on its checklist:', ...unchecked.map((item) => `  ${item}`)]),
    ].join('\n');
    return { text, data: { business_id: id, approved: true, unchecked }, exitCode: 0 };
  },
};

const listBusinesses: Command = {
  name: 'businesses list',
  usage: '',
  summary: 'List merchants, test and live',
  async run({ db }) {
    const merchants = await listMerchants(db);
    const rows = merchants.map((merchant) => [
      merchant.id,
      environmentOf(merchant),
      merchant.businessId,
      merchant.name,
    ]);
    const data = merchants.map(({ id, testMode, businessId, name }) => ({
      merchant_id: id,
      business_id: businessId,
      test_mode: testMode,
      name,
    }));
    return { text: table(['MERCHANT', 'ENVIRONMENT', 'BUSINESS', 'NAME'], rows), data, exitCode: 0 };
  },
};

const phoneLink: Command = {
  name: 'phone link',
  usage: '--merchant <merchant id>',
  summary: 'Show the link to a test merchant’s simulated phone',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    if (!merchant.testMode) throw new UsageError('A live merchant has no simulated phone. See: businesses list');
    const link = context.phoneLink(merchant);
    return { text: link, data: { link }, exitCode: 0 };
  },
};

export const merchantCommands: readonly Command[] = [createBusiness, approveBusiness, listBusinesses, phoneLink];

function environmentOf(merchant: Merchant): string {
  return merchant.testMode ? 'test' : 'live';
}
