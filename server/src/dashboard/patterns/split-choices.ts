import { groupSchema, subAccountSchema } from '../../sub-accounts/sub-account-wire.ts';
import { cleanText } from '../../pages/page-text.ts';
import type { Visit } from '../visit.ts';
import type { Field, Option } from '../../portal/patterns/fields.ts';

const choicesMax = 100;

/** The sub-accounts and groups that a payment can be shared with, the newest hundred of each. */
export interface SplitChoices {
  subAccounts: Option[];
  groups: Option[];
}

export async function splitChoices({ api }: Visit): Promise<SplitChoices> {
  const call = { query: { limit: choicesMax } };
  const [subAccounts, groups] = await Promise.all([
    api.list('listSubAccounts', subAccountSchema, call),
    api.list('listSubAccountGroups', groupSchema, call),
  ]);
  return {
    subAccounts: subAccounts.data
      .filter(({ active }) => active)
      .map(({ id, name, percentage }) => ({ value: id, text: `${cleanText(name)}, ${percentage}%` })),
    groups: groups.data.map(({ id, name }) => ({ value: id, text: cleanText(name) })),
  };
}

/** The two fields of a split, none where the business shares with nobody. `head` leads their names. */
export function splitFields({ subAccounts, groups }: SplitChoices, head = ''): Field[] {
  const field = (name: string, label: string, options: Option[]): Field[] =>
    options.length === 0
      ? []
      : [{ kind: 'select', name: `${head}${name}`, label, options: [{ value: '', text: 'Nobody' }, ...options] }];
  return [
    ...field('sub_account', 'Share with a sub-account', subAccounts),
    ...field('sub_account_group', 'Share with a group', groups),
  ];
}
