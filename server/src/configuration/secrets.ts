import { createHmac, hkdfSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import {
  createPrivateFile,
  isSystemError,
  openDataDirectory,
  unusableDataDirectory,
} from '../database/embedded/data-directory.ts';
import type { KeyCheck, KeySetting } from '../keyring/key-check.ts';
import type { Random } from '../kit/random.ts';
import { createSealer, keyIdOf, type Sealer } from '../kit/seal.ts';
import { StartError } from '../kit/start-error.ts';

/** The secrets of the installation and those derived from them: the same in every process. */
export interface Secrets extends ConfiguredSecrets {
  /** Keys the payment method ids, which are HMACs of phone numbers. Stored sealed, so that the ids survive a change of SEAL_KEY. */
  idSecret: string;
}

/** The secrets that derive from the settings alone. */
export interface ConfiguredSecrets {
  sealer: Sealer;
  pepper: Uint8Array;
  /** The check values by which the database recognizes the keys. */
  checks: { sealing: KeyCheck; olderSealing: KeyCheck[]; pepper: KeyCheck };
  /** The initial `idSecret` of a database without one: the value that earlier versions derived at each start. */
  firstIdSecret: string;
  /** Derived from the pepper, so that the owner's password can change while processes run. */
  servingPassword: string;
  /** Keys the checks in printed QR codes of counters. */
  terminalKey: string;
  /** Signs the heads of the hash chains. */
  chainKey: string;
  /** Signs the forms of pages (CSRF protection). */
  formKey: string;
  /** Sign the callbacks of simulated networks, and the credentials for calling them. */
  simulatorCallbackSecret: string;
  simulatorBearerSecret: string;
  /** Makes the links to a merchant's simulated phone unguessable on a production server. */
  simulatorPhoneSecret: string;
}

const keyBytes = 32;

/** From the settings, or in development from the data directory, where the first start creates them. */
export function readSecrets(config: Config, random: Random): ConfiguredSecrets {
  const stored = config.sealKey === null || config.keyPepper === null ? readStoredSecrets(config, random) : null;
  const sealKey = config.sealKey ?? stored?.seal_key ?? '';
  const pepper = config.keyPepper ?? stored?.key_pepper ?? '';
  const derive = (purpose: string, keyText = sealKey) =>
    Buffer.from(hkdfSync('sha256', keyOf(keyText), Buffer.alloc(0), `dalasi ${purpose}`, 32)).toString('hex');
  return {
    sealer: createSealer(sealKey, config.sealKeysOld),
    pepper: keyOf(pepper),
    checks: {
      sealing: sealingCheck(sealKey),
      olderSealing: config.sealKeysOld.map(sealingCheck),
      pepper: { setting: 'KEY_PEPPER', keyId: null, value: checkValue('KEY_PEPPER', pepper) },
    },
    firstIdSecret: derive('ids'),
    servingPassword: derive('serving role', pepper),
    // From the pepper, so that posters survive a change of SEAL_KEY.
    terminalKey: derive('terminal checks', pepper),
    // From the pepper, so that kept heads survive a change of SEAL_KEY.
    chainKey: derive('chain heads', pepper),
    formKey: derive('forms'),
    simulatorCallbackSecret: derive('simulator callbacks'),
    simulatorBearerSecret: derive('simulator credentials'),
    simulatorPhoneSecret: derive('simulator phone'),
  };
}

function sealingCheck(key: string): KeyCheck {
  return { setting: 'SEAL_KEY', keyId: keyIdOf(key), value: checkValue('SEAL_KEY', key) };
}

/** Identifies a key without revealing it: both steps are one-way. */
function checkValue(setting: KeySetting, key: string): Buffer {
  const derived = Buffer.from(hkdfSync('sha256', keyOf(key), Buffer.alloc(0), `dalasi check of ${setting}`, keyBytes));
  return createHmac('sha256', derived).update('dalasi key check 1').digest();
}

interface StoredSecrets {
  seal_key: string;
  key_pepper: string;
}

/** Processes that start at the same time on one data directory agree: the second reads the file of the first. */
function readStoredSecrets(config: Config, random: Random): StoredSecrets {
  const path = join(config.dataDirectory, 'secrets.json');
  try {
    if (!existsSync(path)) {
      openDataDirectory(config.dataDirectory);
      const key = () => Buffer.from(random.bytes(keyBytes)).toString('base64');
      const created: StoredSecrets = { seal_key: key(), key_pepper: key() };
      createPrivateFile(path, `${JSON.stringify(created, null, 2)}\n`);
    }
    return parseStoredSecrets(path);
  } catch (error) {
    throw isSystemError(error) ? unusableDataDirectory(config.dataDirectory, error) : error;
  }
}

function parseStoredSecrets(path: string): StoredSecrets {
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8')) as Partial<StoredSecrets>;
    const { seal_key: sealKey, key_pepper: keyPepper } = stored;
    if (isKey(sealKey) && isKey(keyPepper)) return { seal_key: sealKey, key_pepper: keyPepper };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new StartError(`${path} is damaged; restore it from a backup: without it, sealed values cannot be opened.`);
}

function isKey(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === keyBytes && bytes.toString('base64') === value;
}

function keyOf(text: string): Buffer {
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
}
