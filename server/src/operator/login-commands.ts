import { operatorRoles } from '../accounts/permissions.ts';
import { createLogin } from '../console/logins/create-login.ts';
import { auditCommand } from './audit-command.ts';
import type { Command } from './command.ts';
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

export const loginCommands: readonly Command[] = [create];
