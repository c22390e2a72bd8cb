import type { Statement, Transaction } from '../kit/db.ts';
import { rowBy, rowsBy, runBy, valueBy } from '../kit/run-statement.ts';
import type { Operator, OperatorLogin } from './operator.ts';

const operatorColumns = `id, name, created_at AS "createdAt", revoked_at AS "revokedAt"`;

/** A credential belongs to one operator. */
export function insertOperator(operator: Operator & { credentialHmac: Uint8Array; pepperVersion: bigint }): Statement {
  return {
    name: 'operators_insert',
    text: `INSERT INTO operators (id, name, credential_hmac, pepper_version, created_at, revoked_at)
           VALUES ($1, $2, $3, $4, $5, $6)`,
    values: [
      operator.id,
      operator.name,
      operator.credentialHmac,
      operator.pepperVersion,
      operator.createdAt,
      operator.revokedAt,
    ],
  };
}

/** Also finds revoked operators; the caller tells them apart. */
export const findOperatorByHmac = rowBy<Operator, [credentialHmac: Uint8Array]>({
  name: 'operators_find_by_hmac',
  text: `SELECT ${operatorColumns} FROM operators WHERE credential_hmac = $1`,
});

/** Counts revoked operators too: their credentials are stored under the same pepper. */
export const hasOperators = valueBy<boolean, []>({
  name: 'operators_exist',
  text: 'SELECT EXISTS (SELECT FROM operators) AS value',
  none: false,
});

export const listOperators = rowsBy<Operator, []>({
  name: 'operators_list',
  text: `SELECT ${operatorColumns} FROM operators ORDER BY created_at, id`,
});

/** Touches an operator that is not revoked yet; the first revocation's time stays. */
export const revokeOperator = runBy<[operator: { id: string; revokedAt: Date }]>({
  name: 'operators_revoke',
  text: 'UPDATE operators SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL',
  values: (operator) => [operator.id, operator.revokedAt],
});

const loginColumns = `operator_logins.account_id AS "accountId", operator_logins.operator_id AS "operatorId",
  operator_logins.role, operators.name, operators.revoked_at AS "revokedAt"`;

/** Who signs in with a login of the console; also revoked operators. */
export const findOperatorLogin = rowBy<OperatorLogin, [accountId: string]>({
  name: 'operator_logins_find',
  text: `SELECT ${loginColumns} FROM operator_logins JOIN operators ON operators.id = operator_logins.operator_id
          WHERE operator_logins.account_id = $1`,
});

export const listOperatorLogins = rowsBy<OperatorLogin, []>({
  name: 'operator_logins_list',
  text: `SELECT ${loginColumns} FROM operator_logins JOIN operators ON operators.id = operator_logins.operator_id
          ORDER BY operator_logins.created_at, operators.id`,
});

/** Those who are not revoked, locked until the transaction ends. */
export function lockOperatorLogins(tx: Transaction): Promise<OperatorLogin[]> {
  return tx.rows<OperatorLogin>({
    name: 'operator_logins_lock',
    text: `SELECT ${loginColumns} FROM operator_logins JOIN operators ON operators.id = operator_logins.operator_id
            WHERE operators.revoked_at IS NULL ORDER BY operators.id FOR UPDATE`,
    values: [],
  });
}

/** The login of an operator who is not revoked; until the transaction ends nobody revokes them or changes their role. */
export function lockOperatorLogin(tx: Transaction, operatorId: string): Promise<OperatorLogin | undefined> {
  return tx.row<OperatorLogin>({
    name: 'operator_logins_lock_one',
    text: `SELECT ${loginColumns} FROM operator_logins JOIN operators ON operators.id = operator_logins.operator_id
            WHERE operators.id = $1 AND operators.revoked_at IS NULL FOR SHARE`,
    values: [operatorId],
  });
}

export function insertOperatorLogin(login: {
  accountId: string;
  operatorId: string;
  role: string;
  createdAt: Date;
}): Statement {
  return {
    name: 'operator_logins_insert',
    text: 'INSERT INTO operator_logins (account_id, operator_id, role, created_at) VALUES ($1, $2, $3, $4)',
    values: [login.accountId, login.operatorId, login.role, login.createdAt],
  };
}

/** Touches the login of an operator who is not revoked. */
export const updateOperatorRole = runBy<[login: { operatorId: string; role: string }]>({
  name: 'operator_logins_update_role',
  text: `UPDATE operator_logins SET role = $2 WHERE operator_id = $1
           AND EXISTS (SELECT FROM operators WHERE operators.id = $1 AND revoked_at IS NULL)`,
  values: (login) => [login.operatorId, login.role],
});
