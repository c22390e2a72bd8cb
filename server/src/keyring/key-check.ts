export type KeySetting = 'SEAL_KEY' | 'KEY_PEPPER';

/** The check value by which the database recognizes a key without storing it. */
export interface KeyCheck {
  setting: KeySetting;
  /** The id of a seal key in sealed values; null for the pepper. */
  keyId: string | null;
  value: Buffer;
}

/** A check value in the database. */
export interface StoredKeyCheck extends KeyCheck {
  /** When an operator declared a seal key lost and went on without it; null for a key in use. */
  lostAt: Date | null;
}

/** The check values of a process's own keys. */
export interface ConfiguredChecks {
  sealing: KeyCheck;
  olderSealing: readonly KeyCheck[];
  pepper: KeyCheck;
}

/** The keys of a process compared with those of the database. */
export interface KeyState {
  /** Seal keys under which values may be stored and which this process does not have, by id. */
  missingSealKeys: readonly string[];
  /** Whether any seal key is recorded as in use. */
  isSealKnown: boolean;
  /** Whether the process's own seal key is recorded as in use. */
  isSealingKnown: boolean;
  /** Whether an operator has declared the process's own seal key lost: nothing more may be sealed with it. */
  isSealingLost: boolean;
  /** `unverified`: no API key has been found under this pepper yet. */
  pepper: 'right' | 'wrong' | 'unverified';
}

export function compareChecks(stored: readonly StoredKeyCheck[], configured: ConfiguredChecks): KeyState {
  const sealing = stored.filter(({ setting }) => setting === 'SEAL_KEY');
  const inUse = sealing.filter(({ lostAt }) => lostAt === null);
  const known = [configured.sealing, ...configured.olderSealing];
  return {
    missingSealKeys: inUse.filter((check) => !known.some((key) => isSame(key, check))).map(({ keyId }) => keyId ?? ''),
    isSealKnown: inUse.length > 0,
    isSealingKnown: inUse.some((check) => isSame(configured.sealing, check)),
    isSealingLost: sealing.some((check) => check.lostAt !== null && isSame(configured.sealing, check)),
    pepper: comparePepper(
      stored.find(({ setting }) => setting === 'KEY_PEPPER'),
      configured.pepper,
    ),
  };
}

function comparePepper(stored: KeyCheck | undefined, configured: KeyCheck): KeyState['pepper'] {
  if (stored === undefined) return 'unverified';
  return isSame(configured, stored) ? 'right' : 'wrong';
}

function isSame(left: KeyCheck, right: KeyCheck): boolean {
  return left.value.equals(right.value);
}
