import { operatorRoles } from '../accounts/permissions.ts';
import { agreeLost } from '../console/logins/agree-lost.ts';
import { createLogin } from '../console/logins/create-login.ts';
import { auditCommand } from './audit-command.ts';
import type { Command } from './command.ts';
import { merchantOf } from './merchant-of.ts';
import { requireOperator } from './operator-commands.ts';
import { requireVerifiedPepper } from './verified-pepper.ts';

const create: Command = {
  name: 'logins create',
  usage: `--email <address> --name <name> --role ${operatorRoles.join('|')}`,
  summary: 'Let an operator sign in to the console',
  details: '  The link is for choosing a password, within seven days. Running it again makes a new one.',
  async run(context, { options: { email = '', name = '', role = '' } }) {
    await requireVerifiedPepper(context);
    const { publicUrl, onboarding } = context;
    const sent = { email, name, role };
    const { login, link } = await context.db.withTransaction(async (tx) => {
      const created = await createLogin(tx, { ...onboarding, publicUrl }, sent);
      const object = { type: 'operator', id: created.login.operatorId };
      // A login with a password stays as it is.
      if (created.link !== null) auditCommand(tx, context, { action: 'operators.invite', object, sent });
      return created;
    });
    const text =
      link === null
        ? `${email} has a password already. Sign in at ${publicUrl()}/operator/`
        : `${link}\n${login.name} chooses a password there, as ${login.role}. The link ends after seven days.`;
    return { text, data: { operator_id: login.operatorId, role: login.role, link }, exitCode: 0 };
  },
};

const lostFactor: Command = {
  name: 'logins lost-factor',
  usage: '--merchant <merchant id> --email <address> --evidence <text>',
  summary: 'Let a person in who has lost app, passkeys and recovery codes',
  details:
    '  Two operators run it for the same person, the second one a day later at the earliest. The person and all owners get a mail each time,\n' +
    '  and a sign-in with the second factor ends it. The evidence says how you have made sure who asks.',
  async run(context, input) {
    const operator = await requireOperator(context);
    const merchant = await merchantOf(context, input);
    const { email = '', evidence = '' } = input.options;
    await context.onboarding.sealer.prepare();
    const { account, removed, notBefore } = await context.db.withTransaction(async (tx) => {
      const agreed = await agreeLost(tx, { ...context, operator }, { ...merchant, email, evidence });
      auditCommand(tx, context, agreed.act, operator);
      return agreed;
    });
    const text = removed
      ? `${account.name} has no second factor any more, and signs in with their password.`
      : `${account.name} has got a mail. From ${notBefore.toISOString()} on another operator can run this too, which removes the factor.`;
    return { text, data: { account_id: account.id, removed, not_before: notBefore }, exitCode: 0 };
  },
};

export const loginCommands: readonly Command[] = [create, lostFactor];
