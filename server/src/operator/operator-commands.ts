import { checkName } from '../accounts/sign-up.ts';
import { endOperator } from '../console/logins/end-operator.ts';
import { table, UsageError } from '../kit/command-line.ts';
import {
  createOperator,
  listOperatorLogins,
  listOperators,
  authenticateOperator,
  type OperatorAuthentication,
} from '../operators/manage-operators.ts';
import type { Operator } from '../operators/operator.ts';
import { auditCommand } from './audit-command.ts';
import type { Command, CommandContext } from './command.ts';
import { requireVerifiedPepper } from './verified-pepper.ts';

const variable = 'OPERATOR_CREDENTIAL';

const create: Command = {
  name: 'operators create',
  usage: '<name>',
  summary: 'Create an operator; the credential is shown once',
  async run(context, { positionals }) {
    const { db, onboarding } = context;
    const name = (positionals[0] ?? '').trim();
    checkName(name, 'name');
    await requireVerifiedPepper(context);
    const { credential, operator } = await db.withTransaction(async (tx) => {
      const created = await createOperator(tx, onboarding, name);
      const object = { type: 'operator', id: created.operator.id };
      auditCommand(tx, context, { action: 'operators.create_credential', object, sent: { name } });
      return created;
    });
    const text = [
      credential,
      `Operator ${operator.id}, ${name}. The credential is not shown again. Commands read it from ${variable}.`,
    ].join('\n');
    return { text, data: { id: operator.id, name, credential }, exitCode: 0 };
  },
};

const list: Command = {
  name: 'operators list',
  usage: '',
  summary: 'List operators',
  async run({ db }) {
    const operators = await listOperators(db);
    const roles = new Map((await listOperatorLogins(db)).map(({ operatorId, role }) => [operatorId, role]));
    const rows = operators.map((operator) => [
      operator.id,
      operator.createdAt.toISOString(),
      operator.revokedAt?.toISOString() ?? 'no',
      roles.get(operator.id) ?? 'commands only',
      operator.name,
    ]);
    const data = operators.map(({ id, name, createdAt, revokedAt }) => ({
      ...{ id, name, createdAt, revokedAt },
      role: roles.get(id) ?? null,
    }));
    const text = rows.length === 0 ? 'No operators.' : table(['OPERATOR', 'CREATED', 'REVOKED', 'ROLE', 'NAME'], rows);
    return { text, data, exitCode: 0 };
  },
};

const revoke: Command = {
  name: 'operators revoke',
  usage: '<operator id>',
  summary: 'Revoke an operator',
  details: '  Their proposals can no longer be confirmed, and their open invitations to owners end.',
  async run(context, { positionals }) {
    const { db, clock } = context;
    const id = positionals[0] ?? '';
    const operators = await listOperators(db);
    const operator = operators.find((candidate) => candidate.id === id);
    if (!operator) throw new UsageError(`There is no operator ${id}. See: operators list`);
    await db.withTransaction(async (tx) => {
      if (!(await endOperator(tx, { id, revokedAt: clock.now() }))) return;
      auditCommand(tx, context, { action: 'operators.revoke', object: { type: 'operator', id } });
    });
    const namesakes = operators.filter(
      (other) => other.id !== id && other.name === operator.name && other.revokedAt === null,
    );
    const text = [
      `Operator ${id} is revoked.`,
      // One person may have a login and a credential.
      ...namesakes.map(
        (other) => `${other.name} goes on as ${other.id}. If it is the same person: operators revoke ${other.id}`,
      ),
    ].join('\n');
    return { text, data: { id, revoked: true, same_name: namesakes.map((other) => other.id) }, exitCode: 0 };
  },
};

export const operatorCommands: readonly Command[] = [create, list, revoke];

/**
 * The operator who runs the command, by the credential in the environment: arguments would show in process lists and in
 * the shell's history.
 *
 * Throws UsageError.
 */
export async function requireOperator({ db, onboarding, operatorCredential }: CommandContext): Promise<Operator> {
  const authentication = await authenticateOperator(db, onboarding.pepper, operatorCredential);
  if ('operator' in authentication) return authentication.operator;
  throw new UsageError(sentences[authentication.refusal]);
}

const sentences: Record<Extract<OperatorAuthentication, { refusal: string }>['refusal'], string> = {
  missing: `Set ${variable} to your operator credential. To create one: operators create <name>`,
  mistyped: `${variable} is mistyped: a credential is op_ and 38 letters and digits.`,
  unknown: `${variable} is not the credential of any operator. See: operators list`,
  revoked: `${variable} belongs to an operator who has been revoked.`,
};
