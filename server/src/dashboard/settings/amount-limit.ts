import { formatAmount, parseAmount } from '../../kit/money.ts';

/** The limit that was typed, in bututs; null where the field was left empty. Throws AppError. */
export function typedLimit(body: Readonly<Record<string, unknown>>, field: string): bigint | null {
  const typed = body[field];
  return typeof typed === 'number' ? parseAmount(typed, field) : null;
}

/** A limit as its field holds it when the form is first shown. */
export function limitValue(limitMinor: bigint | null): string {
  return limitMinor === null ? '' : formatAmount(limitMinor, { style: 'plain' });
}

/** What the audit log says of a limit's change. */
export function limitChange(field: string, [before, after]: readonly [bigint | null, bigint | null]) {
  const shown = (minor: bigint | null) => ({ [field]: minor === null ? null : formatAmount(minor) });
  return { before: shown(before), after: shown(after) };
}
