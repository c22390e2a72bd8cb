import { UsageError } from '../kit/command-line.ts';
import { readKeyState } from '../keyring/keyring.ts';
import type { CommandContext } from './command.ts';

/**
 * Refuses to create a key while the pepper is unverified: a key created under a wrong pepper would verify that one.
 *
 * Throws UsageError.
 */
export async function requireVerifiedPepper({ db, keys }: Pick<CommandContext, 'db' | 'keys'>): Promise<void> {
  if ((await readKeyState(db, keys.checks)).pepper === 'right') return;
  throw new UsageError(
    'KEY_PEPPER is not verified: the service has not been started since the database was created, or no API key has been used since an upgrade. If you are sure that it is right, run: secrets accept KEY_PEPPER',
  );
}
