import { acquireAdvisoryLock } from '../database/advisory-lock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Queryable, Transaction } from '../kit/db.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import { SealError } from '../kit/seal.ts';
import type { Sealer } from '../kit/seal.ts';
import { StartError } from '../kit/start-error.ts';
import { guardSealer } from './guarded-sealer.ts';
import type { KeyReading } from './guarded-sealer.ts';
import { compareChecks } from './key-check.ts';
import type { ConfiguredChecks, KeyState } from './key-check.ts';
import { insertInstallationSecretOnce, insertKeyCheckOnce, listInstallationSecrets, listKeyChecks } from './queries.ts';

export interface KeyringParts {
  db: Database;
  clock: Clock;
  sealer: Sealer;
  checks: ConfiguredChecks;
  firstIdSecret: string;
  evidence: KeyEvidence;
}

/** What a database that has no checks yet can tell about the keys it was written with. */
export interface KeyEvidence {
  /** Opens the sealed value that was written last; `none` where nothing has been sealed. */
  openNewestSealed(db: Queryable, sealer: Sealer): Promise<'opened' | 'closed' | 'none'>;
  /** Whether API keys or credentials of operators are stored, which hang on the pepper. */
  hasHashedKeys(db: Queryable): Promise<boolean>;
}

/** What the running service knows of its keys. */
export interface Keyring {
  idSecret: string;
  /** Opens what the configured keys open, and seals only while `state` says that it may. */
  sealer: Sealer;
  /** How the keys compare with what the database says now, at most five seconds old. */
  state(): Promise<KeyState>;
  /** Somebody's API key was found under this process's pepper, so that it is the right one. Never rejects. */
  recordPepperVerified(): Promise<void>;
}

// As long as a load balancer takes to ask again: other processes' keys change once in years.
const stateLifetimeMs = 5_000;

const lockName = 'keys';
const idSecretName = 'ids';

/**
 * For the start of a service and for `secrets reseal`, which go on sealing with the configured key: compares the keys with
 * those that the database was written with, and writes them down where nothing is known yet: the seal key once a stored
 * value has opened with it, the pepper once a key has been found under it. An empty database takes both as they are.
 *
 * @throws StartError naming the setting that is wrong and what to do.
 */
export async function openKeyring(parts: KeyringParts): Promise<Keyring> {
  const readAtMs = parts.clock.now().getTime();
  const { idSecret, state } = (await readKnown(parts, parts.db)) ?? (await establish(parts));
  return new DatabaseKeyring(parts, idSecret, { state, readAtMs });
}

/** The keys of a process that ends soon, such as a command: they are compared, and nothing is written down of them. */
export interface ComparedKeys {
  /** Opens everything. It throws a StartError where it would seal with a key that no service has begun to use. */
  sealer: Sealer;
  /** Undefined in a database on which the service has not been started yet. */
  idSecret: string | undefined;
}

/**
 * Compares and writes nothing: a key that only a command has would make every running process unready.
 *
 * @throws StartError naming the setting that is wrong and what to do.
 */
export async function compareKeys({ db, sealer, checks }: KeyringParts): Promise<ComparedKeys> {
  const { isSealingKnown } = await assertKeysMatch(db, checks);
  const idSecret = await readIdSecret(db, sealer);
  return { idSecret, sealer: isSealingKnown ? sealer : { ...sealer, seal: refuseToSeal } };
}

function refuseToSeal(): never {
  throw new StartError(
    'The service has not been started with this SEAL_KEY, so its processes could not open what a command seals with it; start the service with it first, or give the command the SEAL_KEY of the running service.',
  );
}

/** How the keys compare with those that the database was written with. */
export async function readKeyState(db: Queryable, checks: ConfiguredChecks): Promise<KeyState> {
  return compareChecks(await listKeyChecks(db), checks);
}

/** The ids of the seal keys under which something may be stored, without the configured one. */
export async function listOtherKeysInUse(db: Queryable, { sealing }: ConfiguredChecks): Promise<string[]> {
  const inUse = (await listKeyChecks(db)).filter(({ keyId, lostAt }) => keyId !== sealing.keyId && lostAt === null);
  return inUse.flatMap(({ keyId }) => keyId ?? []);
}

/**
 * Refuses keys that are not those the database was written with. It reads only, so that it can be asked before anything is
 * changed for a process that has the wrong ones.
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
 * To be asked before the serving role's password is made to follow from the pepper: compares the keys, and writes the
 * pepper down where nothing hangs on another one yet, so that of two first starts one is refused before it changes
 * anything. Answers whether the pepper is known to be right.
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

/** Undefined where something is still to be written down. */
async function readKnown({ sealer, checks }: KeyringParts, db: Queryable): Promise<Known | undefined> {
  const state = await assertKeysMatch(db, checks);
  const idSecret = await readIdSecret(db, sealer);
  return idSecret !== undefined && state.isSealingKnown && state.pepper === 'right' ? { state, idSecret } : undefined;
}

/** Of processes that start at once one writes, and the others compare. */
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

/** Takes the pepper for right where nothing hangs on another one yet; answers whether it is known to be right. */
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

/** In a database from before the checks: whatever is configured may have sealed something, if it opens what there is. */
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
    // Where it cannot be written just now, nothing is sealed, and the next look tries again.
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
      // The request that brought the key is answered all the same; the next one tries again.
      this.#isPepperVerified = false;
    }
  }
}

/**
 * Whether `secrets reseal` has struck the key off while this process goes on sealing with it: the next start has to ask for
 * it. A process that lacks a key in use, or whose own was declared lost, writes nothing down: it is unready, and would make
 * those unready that have the right keys.
 */
function wasSealingRetired({ isSealingKnown, isSealingLost, missingSealKeys }: KeyState): boolean {
  return !isSealingKnown && !isSealingLost && missingSealKeys.length === 0;
}
