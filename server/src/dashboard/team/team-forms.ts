import { merchantRoles, type MerchantRole } from '../../accounts/permissions.ts';
import type { Grant } from '../../accounts/team.ts';
import { fieldError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import type { Field, Option } from '../../portal/patterns/fields.ts';
import { roleName } from '../../portal/patterns/texts.ts';

/** What each role may do, in the order in which a business grows. */
const roleTexts: Readonly<Record<MerchantRole, string>> = {
  cashier: 'Takes payments at their own counters, and sees those.',
  finance: 'Sees all money. Pays out, refunds, closes books; changes who pays fees and when sub-accounts are paid out.',
  developer: 'Keys, webhook endpoints, events and requests. Moves no real money; may do most things in test.',
  owner: 'May do everything, and decides who is in the team.',
};

export function rolesExplained(): Html {
  return html`<dl class="roles">${merchantRoles.map(
    (role) => html`<div><dt>${roleName(role)}</dt><dd>${roleTexts[role]}</dd></div>`,
  )}</dl>`;
}

/** The role, and for cashiers their counters. */
export function grantFields(counters: readonly Option[]): Field[] {
  return [
    {
      ...{ kind: 'select', name: 'role', label: 'Role', isRequired: true },
      options: merchantRoles.toReversed().map((role) => ({ value: role, text: roleName(role) })),
    },
    ...(counters.length === 0
      ? []
      : [
          {
            ...{ kind: 'checkboxes' as const, name: 'counters', label: 'Counters of a cashier', options: counters },
            hint: 'A cashier sees and takes payments at these only. Other roles see all counters.',
          },
        ]),
  ];
}

/** The grant of a sent form. Throws AppError that names the field. */
export function readGrant(roleText: string | undefined, ticked: unknown, counters: readonly Option[]): Grant {
  const role = merchantRoles.find((each) => each === roleText);
  if (role === undefined) throw fieldError('invalid_request', 'role', 'Choose a role.');
  if (role !== 'cashier') return { role, terminalIds: [] };
  const chosen = Array.isArray(ticked) ? ticked : [];
  const terminalIds = counters.map(({ value }) => value).filter((id) => chosen.includes(id));
  if (terminalIds.length === 0 && counters.length > 0) {
    throw fieldError('invalid_request', 'counters', 'Tick the counters at which the cashier works.');
  }
  return { role, terminalIds };
}

/** The counters of a grant, for people. */
export function counterNames(terminalIds: readonly string[], counters: readonly Option[]): string {
  const names = terminalIds.map((id) => counters.find(({ value }) => value === id)?.text ?? 'a deleted counter');
  return names.join('; ');
}

/** A grant as the audit log shows it. */
export function grantInWords({ role, terminalIds }: Grant, counters: readonly Option[]): Record<string, string | null> {
  return { role, counters: role === 'cashier' ? counterNames(terminalIds, counters) : null };
}
