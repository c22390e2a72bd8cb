import type { FieldChange } from './masked-fields.ts';

/** `data.customer_name` as people read it: `Customer name`. */
export function fieldText(field: string): string {
  const words = field
    .replace(/^data\./, '')
    .replaceAll('.', ', ')
    .replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** `Role: cashier → owner`. */
export function changeText({ field, before, after }: FieldChange): string {
  const value = after ?? 'nothing';
  return `${fieldText(field)}: ${before === null ? value : `${before} → ${value}`}`;
}
