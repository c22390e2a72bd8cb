import { UsageError } from '../kit/command-line.ts';
import { readKeyState } from '../keyring/keyring.ts';
import type { CommandContext } from './command.ts';

/**
 * A key that is made under a wrong pepper would be the first to fit, and show that the wrong one is right.
 *
 * Throws UsageError.
 */
export async function requireVerifiedPepper({ db, keys }: Pick<CommandContext, 'db' | 'keys'>): Promise<void> {
  if ((await readKeyState(db, keys.checks)).pepper === 'right') return;
  throw new UsageError(
    'KEY_PEPPER is not verified: the service has not been started since the database was made, or nobody has used an API key since an upgrade. If you are sure of it: secrets accept KEY_PEPPER',
  );
}
