import { table, UsageError } from '../kit/command-line.ts';
import { maskedApiKey } from '../merchants/api-key.ts';
import { createApiKey, listApiKeys, listMerchants, revokeApiKey } from '../merchants/manage-keys.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Command } from './command.ts';
import { merchantInWords, merchantOf } from './merchant-of.ts';
import { requireVerifiedPepper } from './verified-pepper.ts';
import { onboardBusiness } from './onboard-business.ts';

const nameLengthMax = 200;

const createBusiness: Command = {
  name: 'businesses create',
  usage: '<name>',
  summary: 'Create a business with a test and a live merchant',
  options: {},
  positionals: 1,
  async run({ db, onboarding }, { positionals }) {
    const name = (positionals[0] ?? '').trim();
    if (name === '' || name.length > nameLengthMax) {
      throw new UsageError(`A name has 1 to ${nameLengthMax} characters.`);
    }
    const { test, live } = await db.withTransaction((tx) => onboardBusiness(tx, onboarding, { name }));
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

const listBusinesses: Command = {
  name: 'businesses list',
  usage: '',
  summary: 'List merchants, test and live',
  options: {},
  positionals: 0,
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

const createKey: Command = {
  name: 'keys create',
  usage: '--merchant <merchant id> [--name <name>]',
  summary: 'Create an API key; it is shown once',
  options: { merchant: { type: 'string', required: true }, name: { type: 'string', required: false } },
  positionals: 0,
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    await requireVerifiedPepper(context);
    const name = (input.options['name'] ?? 'Made by the operator').slice(0, nameLengthMax);
    const { text: key, record } = await createApiKey(context.db, context.onboarding, merchant, name);
    const text = `${key}\nKey ${record.id} of ${merchantInWords(merchant)}. It is not shown again.`;
    return { text, data: { id: record.id, secret_key: key }, exitCode: 0 };
  },
};

const listKeys: Command = {
  name: 'keys list',
  usage: '--merchant <merchant id>',
  summary: 'List the API keys of a merchant',
  options: { merchant: { type: 'string', required: true } },
  positionals: 0,
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const keys = await listApiKeys(context.db, merchant.id);
    const { testMode } = merchant;
    const rows = keys.map((key) => [
      key.id,
      maskedApiKey({ testMode, lastFour: key.lastFour }),
      key.createdAt.toISOString(),
      key.revokedAt?.toISOString() ?? 'no',
      key.name,
    ]);
    const data = keys.map((key) => ({
      id: key.id,
      last_four: key.lastFour,
      name: key.name,
      createdAt: key.createdAt,
      revokedAt: key.revokedAt,
    }));
    return { text: table(['KEY', 'SECRET', 'CREATED', 'REVOKED', 'NAME'], rows), data, exitCode: 0 };
  },
};

const revokeKey: Command = {
  name: 'keys revoke',
  usage: '<key id> --merchant <merchant id>',
  summary: 'Revoke an API key; every process refuses it within 5 s',
  options: { merchant: { type: 'string', required: true } },
  positionals: 1,
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const id = input.positionals[0] ?? '';
    const keys = await listApiKeys(context.db, merchant.id);
    const key = keys.find((candidate) => candidate.id === id);
    if (!key) throw new UsageError(`${merchant.name} has no key ${id}. See: keys list --merchant ${merchant.id}`);
    await revokeApiKey(context.db, { merchantId: merchant.id, id, revokedAt: context.clock.now() });
    return { text: `Key ${id} is revoked.`, data: { id, revoked: true }, exitCode: 0 };
  },
};

const phoneLink: Command = {
  name: 'phone link',
  usage: '--merchant <merchant id>',
  summary: 'Show the link to a test merchant’s simulated phone',
  options: { merchant: { type: 'string', required: true } },
  positionals: 0,
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    if (!merchant.testMode) throw new UsageError('A live merchant has no simulated phone. See: businesses list');
    const link = context.phoneLink(merchant);
    return { text: link, data: { link }, exitCode: 0 };
  },
};

export const merchantCommands: readonly Command[] = [
  createBusiness,
  listBusinesses,
  createKey,
  listKeys,
  revokeKey,
  phoneLink,
];

function environmentOf(merchant: Merchant): string {
  return merchant.testMode ? 'test' : 'live';
}
