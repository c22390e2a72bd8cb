export type KeySetting = 'SEAL_KEY' | 'KEY_PEPPER';

/** How the database knows a key of the installation, without holding it. */
export interface KeyCheck {
  setting: KeySetting;
  /** How sealed values name a seal key; null for the pepper. */
  keyId: string | null;
  value: Buffer;
}

/** A key as the database knows it. */
export interface StoredKeyCheck extends KeyCheck {
  /** When an operator declared a seal key lost and went on without it; null for a key in use. */
  lostAt: Date | null;
}

/** The keys that a process was started with. */
export interface ConfiguredChecks {
  sealing: KeyCheck;
  olderSealing: readonly KeyCheck[];
  pepper: KeyCheck;
}

/** How a process's keys compare with those that the database was written with. */
export interface KeyState {
  /** Seal keys under which values may be stored and which this process does not have, by id. */
  missingSealKeys: readonly string[];
  /** Whether nothing of this database may have been sealed yet, as far as it says. */
  isSealKnown: boolean;
  /** Whether the process's own seal key is written down as one that values are sealed with. */
  isSealingKnown: boolean;
  /** Whether an operator has declared the process's own seal key lost: nothing more may be sealed with it. */
  isSealingLost: boolean;
  /** `unverified`: nobody has shown yet which pepper this database's API keys are stored under. */
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
