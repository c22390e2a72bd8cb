import { unexplained, type ClearingGroup } from '../../reports/clearing.ts';
import { kindTexts } from '../cases/case-list.ts';

/** The accounts that have to be empty in the end. */
export const accountTexts: Readonly<Record<ClearingGroup['account'], string>> = {
  suspense: 'Suspense',
  unmatched: 'Unmatched',
  held: 'Held',
};

/** Why money waits, where no case says so. */
const causeTexts: ReadonlyMap<string, string> = new Map([
  ['in_progress', 'A payout is under way'],
  ['float_empty', 'The float at the network is empty'],
  ['network_unavailable', 'The network accepts no payouts'],
  [unexplained, 'Nothing explains it'],
]);

export const causeText = (cause: string): string =>
  causeTexts.get(cause) ?? (kindTexts as Readonly<Record<string, string>>)[cause] ?? cause.replaceAll('_', ' ');
