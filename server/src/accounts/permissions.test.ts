import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  merchantActionNames,
  merchantPermission,
  merchantRoles,
  needsFactorEachTime,
  operatorActionNames,
  operatorPermission,
  operatorRoles,
  type MerchantAction,
  type Permission,
} from './permissions.ts';

/** As a line of text: what the role may do in test, and in live. */
function shown({ isAllowed, needsSecondFactor, ownOnly }: Permission): string {
  if (!isAllowed) return '-';
  return `${ownOnly ? 'own' : 'yes'}${needsSecondFactor ? '+factor' : ''}`;
}

test('every action has a decision for every role, and the owner may do all of them', () => {
  for (const action of merchantActionNames) {
    for (const testMode of [true, false]) {
      assert.ok(merchantPermission('owner', action, { testMode }).isAllowed, action);
      for (const role of merchantRoles) {
        const permission = merchantPermission(role, action, { testMode });
        const owners = merchantPermission('owner', action, { testMode });
        assert.ok(!permission.needsSecondFactor || owners.needsSecondFactor, `${action} asks the owner too`);
      }
    }
  }
  for (const action of operatorActionNames) {
    assert.ok(
      operatorRoles.some((role) => operatorPermission(role, action).isAllowed),
      action,
    );
  }
});

test('a developer moves money in test only, finance in both, a cashier nowhere', () => {
  const moving: MerchantAction[] = ['transfers.create', 'refunds.create', 'transfers.create_to_new_number'];
  const of = (role: 'developer' | 'finance' | 'cashier') =>
    moving.map((action) =>
      [true, false].map((testMode) => shown(merchantPermission(role, action, { testMode }))).join(' '),
    );
  assert.deepEqual(of('developer'), ['yes -', 'yes -', 'yes+factor -']);
  assert.deepEqual(of('finance'), ['yes yes', 'yes yes', 'yes+factor yes+factor']);
  assert.deepEqual(of('cashier'), ['- -', '- -', '- -']);
});

test('a cashier sees and takes payments at their own counters only, and does nothing else', () => {
  const allowed = merchantActionNames.filter(
    (action) => merchantPermission('cashier', action, { testMode: true }).isAllowed,
  );
  assert.deepEqual(allowed, ['payments.read', 'payments.write', 'counters.use']);
  for (const action of allowed) assert.ok(merchantPermission('cashier', action, { testMode: false }).ownOnly);
});

test('keys, destinations, cases, credentials and people ask for the second factor each time', () => {
  const names = [...merchantActionNames, ...operatorActionNames].filter(needsFactorEachTime);
  assert.deepEqual([...new Set(names)].toSorted(), [
    'cases.confirm',
    'credentials.manage',
    'keys.manage',
    'operators.manage',
    'sub_accounts.change_destination',
    'team.manage',
    'transfer_approval.manage',
    'transfers.approve',
  ]);
  for (const role of merchantRoles) {
    const permission = merchantPermission(role, 'keys.manage', { testMode: false });
    assert.ok(!permission.isAllowed || permission.needsSecondFactor);
  }
});

test('nobody approves for live, changes terms or decides cases without the second factor', () => {
  for (const action of ['businesses.approve', 'terms.manage', 'cases.confirm', 'credentials.manage'] as const) {
    for (const role of operatorRoles) {
      const permission = operatorPermission(role, action);
      assert.ok(!permission.isAllowed || permission.needsSecondFactor, `${role} ${action}`);
    }
  }
  assert.equal(operatorPermission('support', 'cases.confirm').isAllowed, false);
});
