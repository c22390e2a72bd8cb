/** What a person may do for a business. The owner may do everything. */
export const merchantRoles = ['owner', 'developer', 'finance', 'cashier'] as const;
export type MerchantRole = (typeof merchantRoles)[number];

/** What an operator may do in the console. */
export const operatorRoles = ['support', 'finance', 'admin'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/**
 * `yes`; `factor`: with the second factor; `test`: in the test environment only; `test factor`: both; `own`: what belongs to
 * the person's own counters; `no`.
 */
type Rule = 'yes' | 'factor' | 'test' | 'test factor' | 'own' | 'no';

/** developer, finance, cashier; the owner's rule follows: `factor` where the action asks anybody for it, else `yes`. */
const merchantActions = {
  'figures.read': ['yes', 'yes', 'no'],
  'payments.read': ['yes', 'yes', 'own'],
  'payments.write': ['test', 'yes', 'own'],
  'records.read': ['yes', 'yes', 'no'],
  'transfers.read': ['yes', 'yes', 'no'],
  'transfers.create': ['test', 'yes', 'no'],
  'transfers.create_to_new_number': ['test factor', 'factor', 'no'],
  'transfers.approve': ['test factor', 'factor', 'no'],
  'transfers.cancel': ['test', 'yes', 'no'],
  'customers.write': ['test', 'yes', 'no'],
  'numbers.show': ['test', 'yes', 'no'],
  'links.write': ['test', 'yes', 'no'],
  'counters.write': ['test', 'yes', 'no'],
  'counters.use': ['test', 'yes', 'own'],
  'refunds.create': ['test', 'yes', 'no'],
  'refunds.create_above_limit': ['test factor', 'factor', 'no'],
  'receipts.match': ['test', 'yes', 'no'],
  'sub_accounts.write': ['test', 'yes', 'no'],
  'sub_accounts.change_destination': ['test factor', 'factor', 'no'],
  'keys.manage': ['factor', 'no', 'no'],
  'endpoints.manage': ['yes', 'no', 'no'],
  'requests.read': ['yes', 'yes', 'no'],
  'appearance.manage': ['test', 'no', 'no'],
  'fee_payer.read': ['yes', 'yes', 'no'],
  'fee_payer.manage': ['no', 'yes', 'no'],
  'schedule.manage': ['no', 'yes', 'no'],
  'audit.read': ['yes', 'yes', 'no'],
  'audit.export': ['no', 'yes', 'no'],
  'refund_limit.manage': ['no', 'no', 'no'],
  'receipt_limit.manage': ['no', 'no', 'no'],
  'transfer_approval.manage': ['no', 'no', 'no'],
  'team.read': ['yes', 'yes', 'no'],
  'team.manage': ['no', 'no', 'no'],
  'business.rename': ['no', 'no', 'no'],
  'live.request': ['no', 'no', 'no'],
} as const satisfies Record<string, readonly [Rule, Rule, Rule]>;

export type MerchantAction = keyof typeof merchantActions;
/** @internal */
export const merchantActionNames = Object.keys(merchantActions) as MerchantAction[];

// The owner's own decisions about who may move money.
const ownersWithFactor: ReadonlySet<MerchantAction> = new Set([
  'team.manage',
  'refund_limit.manage',
  'receipt_limit.manage',
  'transfer_approval.manage',
]);

/** support, finance, admin. */
const operatorActions = {
  'records.read': ['yes', 'yes', 'yes'],
  'phone.use': ['yes', 'yes', 'yes'],
  'businesses.write': ['yes', 'no', 'yes'],
  'businesses.approve': ['no', 'no', 'factor'],
  'terms.manage': ['no', 'factor', 'factor'],
  'cases.propose': ['yes', 'yes', 'yes'],
  'cases.confirm': ['no', 'factor', 'factor'],
  'receipts.match': ['no', 'factor', 'factor'],
  'ledger.read': ['yes', 'yes', 'yes'],
  'ledger.verify': ['no', 'yes', 'yes'],
  'totals.export': ['no', 'yes', 'yes'],
  'audit.export': ['no', 'yes', 'yes'],
  'networks.test': ['yes', 'yes', 'yes'],
  'credentials.manage': ['no', 'no', 'factor'],
  'keys.manage': ['no', 'no', 'factor'],
  'operators.manage': ['no', 'no', 'factor'],
} as const satisfies Record<string, readonly [Rule, Rule, Rule]>;

export type OperatorAction = keyof typeof operatorActions;
/** @internal */
export const operatorActionNames = Object.keys(operatorActions) as OperatorAction[];

/** What a role's rule means for one request. */
export interface Permission {
  isAllowed: boolean;
  /** The second factor has to be given again, within the last five minutes or with the request itself. */
  needsSecondFactor: boolean;
  /** Only what belongs to the person's own counters. */
  ownOnly: boolean;
}

/** Whether a role may do an action in an environment: for the request itself, and for the buttons that lead to it. */
export function merchantPermission(
  role: MerchantRole,
  action: MerchantAction,
  { testMode }: { testMode: boolean },
): Permission {
  return permission(merchantRule(role, action), testMode);
}

function merchantRule(role: MerchantRole, action: MerchantAction): Rule {
  const [developer, finance, cashier]: readonly Rule[] = merchantActions[action];
  const rules: Record<MerchantRole, Rule | undefined> = {
    owner: ownersRule(action),
    developer,
    finance,
    cashier,
  };
  return rules[role] ?? 'no';
}

function ownersRule(action: MerchantAction): Rule {
  const rules: readonly Rule[] = merchantActions[action];
  const needsFactor = ownersWithFactor.has(action) || rules.some((rule) => rule === 'factor' || rule === 'test factor');
  return needsFactor ? 'factor' : 'yes';
}

/** As `merchantPermission`, for the console. */
export function operatorPermission(role: OperatorRole, action: OperatorAction): Permission {
  const rules: readonly Rule[] = operatorActions[action];
  return permission(rules[operatorRoles.indexOf(role)] ?? 'no', false);
}

function permission(rule: Rule, testMode: boolean): Permission {
  const isForTest = rule === 'test' || rule === 'test factor';
  return {
    isAllowed: rule !== 'no' && (!isForTest || testMode),
    needsSecondFactor: rule === 'factor' || rule === 'test factor',
    ownOnly: rule === 'own',
  };
}

// A factor that was given for one of these does not count for the next, nor does one from before.
const eachTimeActions: ReadonlySet<string> = new Set<MerchantAction | OperatorAction>([
  'keys.manage',
  'team.manage',
  'sub_accounts.change_destination',
  'transfers.approve',
  'transfer_approval.manage',
  'cases.confirm',
  'credentials.manage',
  'operators.manage',
]);

/** Whether the second factor has to come with the request, however recently it was given. */
export function needsFactorEachTime(action: MerchantAction | OperatorAction): boolean {
  return eachTimeActions.has(action);
}
