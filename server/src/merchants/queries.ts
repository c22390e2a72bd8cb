import type { Queryable, Statement } from '../kit/db.ts';
import { statementBy, valueBy } from '../kit/run-statement.ts';
import type { FeePayer } from './fees.ts';
import type { Merchant, PayoutSchedule } from './merchant.ts';
import { appearanceColumns } from './queries/appearance.ts';
import { urlDefaultColumns } from './queries/url-defaults.ts';
import { rateLimitColumns } from './queries/rate-limits.ts';
import { reserves, toReserves, type ReserveRow } from './queries/reserve.ts';
import {
  resolveCollectionFee,
  resolveReserve,
  resolveTransferFees,
  resolveTransferLimits,
  type LimitKind,
  type MerchantRules,
  type Operation,
  type RuleOwner,
  type Rules,
  type StoredFeeRule,
  type StoredLimit,
} from './rules.ts';

/** A merchant without what its rules are resolved to. */
type StoredMerchant = Omit<Merchant, 'collectionFee' | 'transferFees' | 'transferLimits' | 'reserve'>;

type MerchantRow = StoredMerchant & DefaultRuleRows & OwnRuleRows & ReserveRow & { fee_payer: FeePayer };

interface OwnRuleRows {
  own_fees: FeeRuleJson[] | null;
  own_limits: LimitJson[] | null;
}

interface DefaultRuleRows {
  default_fees: FeeRuleJson[] | null;
  default_limits: LimitJson[] | null;
}

/** Amounts as text: JSON numbers would be parsed as floats. */
interface FeeRuleJson {
  operation: Operation;
  network: string;
  percent: string;
  fixed: string;
  minimum: string;
  maximum: string | null;
}

interface LimitJson {
  kind: LimitKind;
  amount: string | null;
}

const storedColumns = `id, business_id AS "businessId", short_id AS "shortId", name, test_mode AS "testMode", currency, fee_payer,
  created_at AS "createdAt"`;

const businessState = `(SELECT suspended_at FROM businesses WHERE businesses.id = merchants.business_id) AS "suspendedAt",
  (SELECT live_approved_at FROM businesses WHERE businesses.id = merchants.business_id) AS "liveApprovedAt"`;

const feeRuleJson = `json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network)`;

const limitJson = `json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC)`;

const ownRules = `(SELECT ${feeRuleJson} FROM fee_rules WHERE fee_rules.merchant_id = merchants.id) AS own_fees,
  (SELECT ${limitJson} FROM transfer_limits WHERE transfer_limits.merchant_id = merchants.id) AS own_limits`;

const defaultRules = `(SELECT ${feeRuleJson} FROM default_fee_rules) AS default_fees,
  (SELECT ${limitJson} FROM default_transfer_limits) AS default_limits`;

// One statement reads a merchant with its rules: they are a handful of rows, and the result is cached for seconds.
const merchantColumns = `${storedColumns}, ${businessState}, ${rateLimitColumns}, ${appearanceColumns}, ${urlDefaultColumns}, ${ownRules}, ${defaultRules}, ${reserves}`;

/** The amount in bututs above which a refund asks for the second factor; null asks for none. */
export const findRefundLimit = valueBy<bigint | null, [businessId: string]>({
  name: 'businesses_find_refund_limit',
  text: 'SELECT refund_limit AS value FROM businesses WHERE id = $1',
  none: null,
});

export const insertBusiness = statementBy<[business: { id: string; name: string; createdAt: Date }]>({
  name: 'businesses_insert',
  text: 'INSERT INTO businesses (id, name, created_at) VALUES ($1, $2, $3)',
  values: (business) => [business.id, business.name, business.createdAt],
});

export type NewMerchant = Pick<
  StoredMerchant,
  'id' | 'businessId' | 'shortId' | 'name' | 'testMode' | 'currency' | 'createdAt' | 'rateLimitPerSecond'
>;

/** Unique per business and environment, and by short id. By default the business pays the fees. */
export const insertMerchant = statementBy<[merchant: NewMerchant]>({
  name: 'merchants_insert',
  text: `INSERT INTO merchants (id, business_id, short_id, name, test_mode, currency, fee_payer, created_at,
           rate_limit_per_second)
         VALUES ($1, $2, $3, $4, $5, $6, 'business', $7, $8)`,
  values: (merchant) => [
    merchant.id,
    merchant.businessId,
    merchant.shortId,
    merchant.name,
    merchant.testMode,
    merchant.currency,
    merchant.createdAt,
    merchant.rateLimitPerSecond,
  ],
});

/** Inserts nothing where it exists: two processes may create the operator's own books at once. */
export function insertBusinessOnce(business: Parameters<typeof insertBusiness>[0]): Statement {
  const { text, values } = insertBusiness(business);
  return { name: 'businesses_insert_once', text: `${text} ON CONFLICT DO NOTHING`, values };
}

/** As `insertBusinessOnce`. */
export function insertMerchantOnce(merchant: NewMerchant): Statement {
  const { text, values } = insertMerchant(merchant);
  return { name: 'merchants_insert_once', text: `${text} ON CONFLICT DO NOTHING`, values };
}

/** The row from which sweeps start (`kit/sweep.ts`). Belongs into the transaction that inserts the merchant. */
export const insertSweptMerchantOnce = statementBy<[merchantId: string]>({
  name: 'merchant_places_insert_once',
  text: 'INSERT INTO merchant_places (merchant_id) VALUES ($1) ON CONFLICT (merchant_id) DO NOTHING',
});

/** All merchants, and those that sweeps find. */
export async function listMerchantsAndSwept(db: Queryable): Promise<{ merchants: string[]; swept: string[] }> {
  const [merchants, swept] = await Promise.all([
    db.rows<{ id: string }>({
      name: 'merchants_ids',
      text: `-- across merchants: none may be left out of the sweeps
             SELECT id FROM merchants`,
      values: [],
    }),
    db.rows<{ id: string }>({
      name: 'merchant_places_list',
      text: `-- across merchants: none may be left out of the sweeps
             SELECT merchant_id AS id FROM merchant_places`,
      values: [],
    }),
  ]);
  return { merchants: merchants.map(({ id }) => id), swept: swept.map(({ id }) => id) };
}

export async function findMerchantById(db: Queryable, id: string): Promise<Merchant | undefined> {
  const row = await db.row<MerchantRow>({
    name: 'merchants_find_by_id',
    text: `SELECT ${merchantColumns} FROM merchants WHERE id = $1`,
    values: [id],
  });
  return row && toMerchant(row);
}

export async function findMerchantByShortId(db: Queryable, shortId: string): Promise<Merchant | undefined> {
  const row = await db.row<MerchantRow>({
    name: 'merchants_find_by_short_id',
    text: `SELECT ${merchantColumns} FROM merchants WHERE short_id = $1`,
    values: [shortId],
  });
  return row && toMerchant(row);
}

/** A business's two merchants, test and live. */
export async function listMerchantsOfBusiness(db: Queryable, businessId: string): Promise<Merchant[]> {
  const rows = await db.rows<MerchantRow>({
    name: 'merchants_of_business',
    text: `-- across merchants: those of one business, for its team
           SELECT ${merchantColumns} FROM merchants WHERE business_id = $1 ORDER BY test_mode`,
    values: [businessId],
  });
  return rows.map(toMerchant);
}

export async function listMerchants(db: Queryable): Promise<Merchant[]> {
  const rows = await db.rows<MerchantRow>({
    name: 'merchants_list',
    text: `-- across merchants: the operator's list of all
           SELECT ${merchantColumns} FROM merchants ORDER BY created_at, id`,
    values: [],
  });
  return rows.map(toMerchant);
}

/** Sets who pays the fees of a merchant's collections. The default, the business, cannot be changed. */
export async function setFeePayer(db: Queryable, merchantId: string, payer: FeePayer): Promise<void> {
  await db.run({
    name: 'merchants_update_fee_payer',
    text: 'UPDATE merchants SET fee_payer = $2 WHERE id = $1',
    values: [merchantId, payer],
  });
}

/** When a merchant's sub-accounts are paid out. */
export async function setPayoutSchedule(db: Queryable, merchantId: string, schedule: PayoutSchedule): Promise<void> {
  await db.run({
    name: 'merchants_update_sub_account_payouts',
    text: 'UPDATE merchants SET sub_account_payouts = $2 WHERE id = $1',
    values: [merchantId, schedule],
  });
}

export const payoutScheduleOf = valueBy<PayoutSchedule, [merchantId: string]>({
  name: 'merchants_find_sub_account_payouts',
  text: 'SELECT sub_account_payouts AS value FROM merchants WHERE id = $1',
  none: 'manual',
});

export async function findMerchantRules(db: Queryable, merchantId: string): Promise<MerchantRules | undefined> {
  const row = await db.row<OwnRuleRows & DefaultRuleRows>({
    name: 'merchants_find_rules',
    text: `SELECT ${ownRules}, ${defaultRules} FROM merchants WHERE id = $1`,
    values: [merchantId],
  });
  return row && toRules(row);
}

export async function findDefaultRules(db: Queryable): Promise<Rules> {
  const row = await db.row<DefaultRuleRows>({
    name: 'default_rules_find',
    text: `SELECT ${defaultRules}`,
    values: [],
  });
  return toRules({ own_fees: null, own_limits: null, default_fees: null, default_limits: null, ...row }).defaults;
}

const feeRuleColumns = 'operation, network, percent_hundredths, fixed, minimum, maximum';
const replaceFeeRule = `UPDATE SET percent_hundredths = excluded.percent_hundredths, fixed = excluded.fixed,
             minimum = excluded.minimum, maximum = excluded.maximum`;

/** Replaces the owner's rule for the same operation and network. */
export async function setFeeRule(db: Queryable, owner: RuleOwner, rule: StoredFeeRule): Promise<void> {
  const values = feeRuleValues(rule);
  const statement =
    owner === 'default'
      ? {
          name: 'default_fee_rules_upsert',
          text: `INSERT INTO default_fee_rules (${feeRuleColumns}) VALUES ($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (operation, network) DO ${replaceFeeRule}`,
          values,
        }
      : {
          name: 'fee_rules_upsert',
          text: `INSERT INTO fee_rules (merchant_id, ${feeRuleColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7)
                 ON CONFLICT (merchant_id, operation, network) DO ${replaceFeeRule}`,
          values: [owner.merchantId, ...values],
        };
  await db.run(statement);
}

/** Returns whether there was one. */
export async function clearFeeRule(
  db: Queryable,
  owner: RuleOwner,
  { operation, network }: FeeRuleKey,
): Promise<boolean> {
  const statement =
    owner === 'default'
      ? {
          name: 'default_fee_rules_delete',
          text: 'DELETE FROM default_fee_rules WHERE operation = $1 AND network = $2',
          values: [operation, network],
        }
      : {
          name: 'fee_rules_delete',
          text: 'DELETE FROM fee_rules WHERE merchant_id = $1 AND operation = $2 AND network = $3',
          values: [owner.merchantId, operation, network],
        };
  return (await db.run(statement)) === 1;
}

/** Replaces the owner's limit of the same kind. */
export async function setLimit(db: Queryable, owner: RuleOwner, { kind, amountMinor }: StoredLimit): Promise<void> {
  const statement =
    owner === 'default'
      ? {
          name: 'default_transfer_limits_upsert',
          text: `INSERT INTO default_transfer_limits (kind, amount) VALUES ($1, $2)
                 ON CONFLICT (kind) DO UPDATE SET amount = excluded.amount`,
          values: [kind, amountMinor],
        }
      : {
          name: 'transfer_limits_upsert',
          text: `INSERT INTO transfer_limits (merchant_id, kind, amount) VALUES ($1, $2, $3)
                 ON CONFLICT (merchant_id, kind) DO UPDATE SET amount = excluded.amount`,
          values: [owner.merchantId, kind, amountMinor],
        };
  await db.run(statement);
}

/** Returns whether there was one. */
export async function clearLimit(db: Queryable, owner: RuleOwner, kind: LimitKind): Promise<boolean> {
  const statement =
    owner === 'default'
      ? {
          name: 'default_transfer_limits_delete',
          text: 'DELETE FROM default_transfer_limits WHERE kind = $1',
          values: [kind],
        }
      : {
          name: 'transfer_limits_delete',
          text: 'DELETE FROM transfer_limits WHERE merchant_id = $1 AND kind = $2',
          values: [owner.merchantId, kind],
        };
  return (await db.run(statement)) === 1;
}

type FeeRuleKey = Pick<StoredFeeRule, 'operation' | 'network'>;

function feeRuleValues(rule: StoredFeeRule): unknown[] {
  const { operation, network, percentHundredths, fixedMinor, minimumMinor, maximumMinor } = rule;
  return [operation, network, percentHundredths, fixedMinor, minimumMinor, maximumMinor];
}

function toMerchant(row: MerchantRow): Merchant {
  const {
    fee_payer: feePayer,
    own_fees,
    own_limits,
    default_fees,
    default_limits,
    own_reserve,
    default_reserve,
    ...stored
  } = row;
  const rules = toRules({ own_fees, own_limits, default_fees, default_limits });
  return {
    ...stored,
    collectionFee: resolveCollectionFee(rules, feePayer),
    transferFees: resolveTransferFees(rules),
    transferLimits: resolveTransferLimits(rules),
    reserve: resolveReserve(toReserves({ own_reserve, default_reserve }), stored.testMode),
  };
}

function toRules(row: OwnRuleRows & DefaultRuleRows): MerchantRules {
  return {
    own: { fees: (row.own_fees ?? []).map(toFeeRule), limits: (row.own_limits ?? []).map(toLimit) },
    defaults: { fees: (row.default_fees ?? []).map(toFeeRule), limits: (row.default_limits ?? []).map(toLimit) },
  };
}

function toFeeRule({ operation, network, percent, fixed, minimum, maximum }: FeeRuleJson): StoredFeeRule {
  return {
    operation,
    network,
    percentHundredths: BigInt(percent),
    fixedMinor: BigInt(fixed),
    minimumMinor: BigInt(minimum),
    maximumMinor: maximum === null ? null : BigInt(maximum),
  };
}

function toLimit({ kind, amount }: LimitJson): StoredLimit {
  return { kind, amountMinor: amount === null ? null : BigInt(amount) };
}
