import { UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';

const headerDefault = 'x-service-signature';

/** The row of --service-header in the help of a command. */
export const serviceHeaderDetails = [
  '--service-header NAME',
  `name of the signature header, if the operator has renamed ${headerDefault}`,
] as const;

/** The header that carries the service's own signature, in small letters. Throws UsageError. */
export function readServiceHeader({ options }: Pick<CommandInput, 'options'>): string {
  const name = options['service-header'] ?? headerDefault;
  if (/^[A-Za-z0-9-]{1,100}$/.test(name)) return name.toLowerCase();
  throw new UsageError(`--service-header is the name of a header, such as ${headerDefault}.`);
}
