export type KeySetting = 'SEAL_KEY' | 'KEY_PEPPER';

/** How the database knows a key of the installation, without holding it. */
export interface KeyCheck {
  setting: KeySetting;
  /** How sealed values name a seal key; null for the pepper. */
  keyId: string | null;
  value: Buffer;
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
  /** `unverified`: nobody has shown yet which pepper this database's API keys are stored under. */
  pepper: 'right' | 'wrong' | 'unverified';
}

export function compareChecks(stored: readonly KeyCheck[], configured: ConfiguredChecks): KeyState {
  const sealing = stored.filter(({ setting }) => setting === 'SEAL_KEY');
  const known = [configured.sealing, ...configured.olderSealing];
  return {
    missingSealKeys: sealing
      .filter((check) => !known.some((key) => isSame(key, check)))
      .map(({ keyId }) => keyId ?? ''),
    isSealKnown: sealing.length > 0,
    isSealingKnown: sealing.some((check) => isSame(configured.sealing, check)),
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
