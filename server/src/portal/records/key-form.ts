import { fieldError } from '../../api/app-error.ts';
import { keyScopes } from '../../api/key-scope.ts';
import { dayMs } from '../../kit/clock.ts';
import type { NewKey } from '../../merchants/key-rights.ts';
import type { Field } from '../patterns/fields.ts';
import { scopeTexts } from './key-texts.ts';

/** What somebody chooses for a new API key. */
export const keyFields: readonly Field[] = [
  { kind: 'text', name: 'name', label: 'Name', hint: 'Which server or program uses it.', isRequired: true },
  {
    kind: 'checkboxes',
    name: 'scopes',
    label: 'What it may do',
    options: keyScopes.map((value) => ({ value, text: scopeTexts[value] })),
  },
  { kind: 'date', name: 'expires_at', label: 'Ends on', hint: 'At the end of that day. Empty: never.' },
  {
    kind: 'lines',
    name: 'addresses',
    label: 'Only from these addresses',
    hint: 'One IP address or network on each line, such as 192.0.2.7 or 192.0.2.0/24. Empty: from anywhere.',
  },
];

/** What these fields hold at first: a key that takes payments and pays out nothing. */
export const keyValues = { scopes: 'read,charge' } as const;

/** The key that the fields' body asks for. Throws AppError that names `expires_at`. */
export function newKeyOf(body: Record<string, unknown>): NewKey {
  const sent = body as { name?: string; scopes?: string[]; expires_at?: string; addresses?: string[] };
  return {
    name: sent.name ?? '',
    scopes: sent.scopes ?? [],
    expiresAt: sent.expires_at === undefined ? null : endOfDay(sent.expires_at),
    addresses: sent.addresses ?? null,
  };
}

function endOfDay(day: string): Date {
  const start = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(start)) throw fieldError('invalid_request', 'expires_at', 'Type a day such as 2027-03-31.');
  return new Date(start + dayMs);
}

const overlaps = [
  { value: '86400', text: 'One more day' },
  { value: '3600', text: 'One more hour' },
  { value: '604800', text: 'Seven more days' },
  { value: '0', text: 'Not at all: it ends now' },
] as const;

export const overlapField: Field = {
  ...{ kind: 'select', name: 'overlap', label: 'The old key goes on working', options: overlaps },
};

export function overlapMsOf(body: Record<string, unknown>): number {
  return Number(body['overlap'] ?? overlaps[0].value) * 1_000;
}
