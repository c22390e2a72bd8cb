import type { Choices } from './choices.ts';

export const networks = ['wave', 'afrimoney', 'qmoney', 'aps'] as const;
// The endings choose what the network does (docs/testing-with-the-simulator.md): all of them, and some more often.
export const payerEndings = [
  ...(['0001', '0001', '0001', '0001', '0002', '0003', '0004', '0005', '0005', '0006', '0007', '0008'] as const),
  ...(['0009', '0010', '0011', '0012', '1234', '1234', '1234'] as const),
] as const;
export const payeeEndings = [
  ...(['0001', '0001', '0001', '0002', '0003', '0004', '0005', '0005', '0006', '0007', '0007', '0008'] as const),
  ...(['0008', '0009', '0010', '0011', '0012', '0012', '1234', '1234'] as const),
] as const;

export function transferBody(choices: Choices): Record<string, unknown> {
  return {
    ...{ amount: amount(choices, 300), network: choices.pick(networks), beneficiary_name: 'Awa Ceesay' },
    account_number: `7${digits(choices)}${choices.pick(payeeEndings)}`,
  };
}

export function digits(choices: Choices): string {
  return String(choices.below(100)).padStart(2, '0');
}

export function amount(choices: Choices, most: number): number {
  return (100 + choices.below(most * 100 - 100)) / 100;
}
