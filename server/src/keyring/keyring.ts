import { acquireAdvisoryLock } from '../database/advisory-lock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Queryable, Transaction } from '../kit/db.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import { SealError, type Sealer } from '../kit/seal.ts';
import { StartError } from '../kit/start-error.ts';
import { guardSealer, type KeyReading } from './guarded-sealer.ts';
import { compareChecks, type ConfiguredChecks, type KeyState } from './key-check.ts';
import { insertInstallationSecretOnce, insertKeyCheckOnce, listInstallationSecrets, listKeyChecks } from './queries.ts';

export interface KeyringParts {
  db: Database;
  clock: Clock;
  sealer: Sealer;
  checks: ConfiguredChecks;
  firstIdSecret: string;
  evidence: KeyEvidence;
}

/** Evidence about the keys of a database without check values. */
export interface KeyEvidence {
  /** Tries to open the newest sealed value; `none` without any. */
  openNewestSealed(db: Queryable, sealer: Sealer): Promise<'opened' | 'closed' | 'none'>;
  /** Whether API keys or operators' credentials are stored, which depend on the pepper. */
  hasHashedKeys(db: Queryable): Promise<boolean>;
}

/** The keys of a running service. */
export interface Keyring {
  idSecret: string;
  /** Opens with every configured key, and seals only while `state` allows it. */
  sealer: Sealer;
  /** The state of the keys by the database, at most five seconds old. */
  state(): Promise<KeyState>;
  /** Records that an API key was found under this process's pepper, which is therefore right. Never rejects. */
  recordPepperVerified(): Promise<void>;
}

// About the check interval of a load balancer; keys change rarely.
const stateLifetimeMs = 5_000;

const lockName = 'keys';
const idSecretName = 'ids';

/**
 * For the start of a service, which then seals with the configured key. Compares the keys with the
 * check values in the database, and records missing ones: the seal key once a stored value has opened with it, the pepper
 * once a key has been found under it. In an empty database it records both at once.
 *
 * @throws StartError naming the setting that is wrong and what to do.
 */
export async function openKeyring(parts: KeyringParts): Promise<Keyring> {
  const readAtMs = parts.clock.now().getTime();
  const { idSecret, state } = (await readKnown(parts, parts.db)) ?? (await establish(parts));
  return new DatabaseKeyring(parts, idSecret, { state, readAtMs });
}

/** The keys of a short-lived process such as a command: compared, but not recorded. */
export interface ComparedKeys {
  /** Opens every value. `seal` throws StartError while no service has started with this key. */
  sealer: Sealer;
  /** Undefined while the service has not been started on this database. */
  idSecret: string | undefined;
}

/**
 * Compares the keys and records nothing: recording a key that only a command has would make every running process unready.
 *
 * @throws StartError naming the setting that is wrong and what to do.
 */
export async function compareKeys({ db, sealer, checks }: KeyringParts): Promise<ComparedKeys> {
  const { isSealingKnown } = await assertKeysMatch(db, checks);
  const idSecret = await readIdSecret(db, sealer);
  return { idSecret, sealer: isSealingKnown ? sealer : { ...sealer, seal: refuseToSeal } };
}

/**
 * For `secrets reseal`, which is no start: every process without the key would stop being ready.
 *
 * @throws StartError
 */
export async function assertSealingKnown(db: Queryable, checks: ConfiguredChecks): Promise<void> {
  if (!(await readKeyState(db, checks)).isSealingKnown) refuseToSeal();
}

function refuseToSeal(): never {
  throw new StartError(
    'The service has not been started with this SEAL_KEY, so its processes could not open what a command seals with it; start the service with it first, or give the command the SEAL_KEY of the running service.',
  );
}

/** Compares the keys with the check values in the database. */
export async function readKeyState(db: Queryable, checks: ConfiguredChecks): Promise<KeyState> {
  return compareChecks(await listKeyChecks(db), checks);
}

/** The ids of the seal keys under which something may be stored, without the configured one. */
export async function listOtherKeysInUse(db: Queryable, { sealing }: ConfiguredChecks): Promise<string[]> {
  const inUse = (await listKeyChecks(db)).filter(({ keyId, lostAt }) => keyId !== sealing.keyId && lostAt === null);
  return inUse.flatMap(({ keyId }) => keyId ?? []);
}

/** Whether an operator has declared the seal key lost (`secrets accept SEAL_KEY`), so that what it sealed stays closed. */
export async function isSealKeyLost(db: Queryable, sealKeyId: string): Promise<boolean> {
  return (await listKeyChecks(db)).some(({ keyId, lostAt }) => keyId === sealKeyId && lostAt !== null);
}

/**
 * Refuses keys that do not match the database. Reads only, so that it can run before a process with wrong keys changes
 * anything.
 *
 * @throws StartError naming the setting that is wrong and what to do.
 */
export async function assertKeysMatch(db: Queryable, checks: ConfiguredChecks): Promise<KeyState> {
  const state = await readKeyState(db, checks);
  const [missing] = state.missingSealKeys;
  if (missing !== undefined) {
    throw new StartError(
      `SEAL_KEY is not the key that this database was sealed with: the key ${missing} is missing; set SEAL_KEY to it or add it to SEAL_KEYS_OLD, or if it is lost run: npm run operator -- secrets accept SEAL_KEY.`,
    );
  }
  if (state.isSealingLost) {
    throw new StartError(
      'SEAL_KEY is a key that was declared lost with: secrets accept SEAL_KEY; set SEAL_KEY to the key in use and, to open what the lost one sealed, add it to SEAL_KEYS_OLD.',
    );
  }
  if (state.pepper === 'wrong') {
    throw new StartError(
      'KEY_PEPPER is not the one that the API keys of this database are stored under; set it to that one, or if it is lost run: npm run operator -- secrets accept KEY_PEPPER.',
    );
  }
  return state;
}

/**
 * Runs before the serving role's password is derived from the pepper: compares the keys, and records the pepper if nothing
 * depends on another one yet, so that of two concurrent first starts one is refused before it changes anything. Returns
 * whether the pepper is verified.
 *
 * @throws StartError naming the setting that is wrong and what to do.
 */
export async function claimPepper(parts: Pick<KeyringParts, 'db' | 'clock' | 'checks' | 'evidence'>): Promise<boolean> {
  const { db, checks } = parts;
  if ((await assertKeysMatch(db, checks)).pepper === 'right') return true;
  return db.withTransaction(async (tx) => {
    await acquireAdvisoryLock(tx, lockName);
    return establishPepper(tx, parts, await assertKeysMatch(tx, checks));
  });
}

interface Known {
  state: KeyState;
  idSecret: string;
}

/** Undefined if something is still to be recorded. */
async function readKnown({ sealer, checks }: KeyringParts, db: Queryable): Promise<Known | undefined> {
  const state = await assertKeysMatch(db, checks);
  const idSecret = await readIdSecret(db, sealer);
  return idSecret !== undefined && state.isSealingKnown && state.pepper === 'right' ? { state, idSecret } : undefined;
}

/** Of processes that start at the same time, one records the keys and the others compare theirs. */
function establish(parts: KeyringParts): Promise<Known> {
  const { db, clock, sealer, checks, firstIdSecret } = parts;
  return db.withTransaction(async (tx) => {
    await acquireAdvisoryLock(tx, lockName);
    const createdAt = clock.now();
    const state = await assertKeysMatch(tx, checks);
    if (!state.isSealKnown) await establishSealKeys(tx, parts);
    await insertKeyCheckOnce(tx, { ...checks.sealing, createdAt });
    await establishPepper(tx, parts, state);
    const sealed = sealer.seal(firstIdSecret, contextOf(idSecretName));
    await insertInstallationSecretOnce(tx, { name: idSecretName, sealed, createdAt });
    const idSecret = (await readIdSecret(tx, sealer)) ?? firstIdSecret;
    return { state: await readKeyState(tx, checks), idSecret };
  });
}

/** Records the pepper if nothing depends on another one yet; returns whether it is verified. */
async function establishPepper(
  tx: Transaction,
  { clock, checks, evidence }: Pick<KeyringParts, 'clock' | 'checks' | 'evidence'>,
  state: KeyState,
): Promise<boolean> {
  if (state.pepper === 'right') return true;
  if (await evidence.hasHashedKeys(tx)) return false;
  await insertKeyCheckOnce(tx, { ...checks.pepper, createdAt: clock.now() });
  return true;
}

/** In a database without check values: records the configured keys, as each may have sealed values, if they open the newest. */
async function establishSealKeys(tx: Transaction, { clock, sealer, checks, evidence }: KeyringParts): Promise<void> {
  const newest = await evidence.openNewestSealed(tx, sealer);
  if (newest === 'closed') {
    throw new StartError(
      'SEAL_KEY does not open what this database has sealed; set it to the key that did, or if that is lost run: npm run operator -- secrets accept SEAL_KEY.',
    );
  }
  if (newest === 'none') return;
  for (const check of checks.olderSealing) await insertKeyCheckOnce(tx, { ...check, createdAt: clock.now() });
}

/** The context of a secret of the installation. */
export function contextOf(name: string): string {
  return `installation_secret:${name}`;
}

async function readIdSecret(db: Queryable, sealer: Sealer): Promise<string | undefined> {
  const secret = (await listInstallationSecrets(db)).find(({ name }) => name === idSecretName);
  if (secret === undefined) return undefined;
  try {
    return sealer.open(secret.sealed, contextOf(idSecretName)).toString('utf8');
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new StartError(
      'SEAL_KEY does not open the secret behind payment method ids; set it to the key that does, or if that is lost run: npm run operator -- secrets accept SEAL_KEY.',
      { cause: error },
    );
  }
}

class DatabaseKeyring implements Keyring {
  readonly idSecret: string;
  readonly sealer: Sealer;
  readonly #parts: KeyringParts;
  readonly #copy = new RecentCopy<KeyState>(stateLifetimeMs);
  #lastReading: KeyReading;
  #isPepperVerified: boolean;

  constructor(parts: KeyringParts, idSecret: string, reading: KeyReading) {
    this.#parts = parts;
    this.idSecret = idSecret;
    this.#lastReading = reading;
    this.#isPepperVerified = reading.state.pepper === 'right';
    const [refresh, lastReading] = [() => this.state(), () => this.#lastReading];
    this.sealer = guardSealer(parts.sealer, { clock: parts.clock, refresh, lastReading });
  }

  state(): Promise<KeyState> {
    return this.#copy.read(this.#parts.clock, () => this.#readState());
  }

  async #readState(): Promise<KeyState> {
    const { db, clock, checks } = this.#parts;
    const readAtMs = clock.now().getTime();
    const read = await readKeyState(db, checks);
    // If recording fails, nothing is sealed, and the next check retries.
    const state = wasSealingRetired(read) ? await this.#noteSealing().catch(() => read) : read;
    this.#lastReading = { state, readAtMs };
    return state;
  }

  async #noteSealing(): Promise<KeyState> {
    const { db, clock, checks } = this.#parts;
    return db.withTransaction(async (tx) => {
      await acquireAdvisoryLock(tx, lockName);
      const state = await readKeyState(tx, checks);
      if (!wasSealingRetired(state)) return state;
      await insertKeyCheckOnce(tx, { ...checks.sealing, createdAt: clock.now() });
      return readKeyState(tx, checks);
    });
  }

  async recordPepperVerified(): Promise<void> {
    if (this.#isPepperVerified) return;
    this.#isPepperVerified = true;
    const { db, clock, checks } = this.#parts;
    try {
      await db.withTransaction(async (tx) => {
        await acquireAdvisoryLock(tx, lockName);
        const { pepper } = await readKeyState(tx, checks);
        if (pepper === 'unverified') await insertKeyCheckOnce(tx, { ...checks.pepper, createdAt: clock.now() });
      });
      this.#copy.forget();
    } catch {
      // The request goes on; the next one retries.
      this.#isPepperVerified = false;
    }
  }
}

/**
 * Whether `secrets reseal` has retired the key while this process still seals with it; it is then recorded again, so that
 * later starts require it. A process that lacks a key in use, or whose own key was declared lost, records nothing: it is
 * unready, and would make processes with the right keys unready too.
 */
function wasSealingRetired({ isSealingKnown, isSealingLost, missingSealKeys }: KeyState): boolean {
  return !isSealingKnown && !isSealingLost && missingSealKeys.length === 0;
}
