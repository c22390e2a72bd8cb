import { hkdfSync } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import type { Random } from './kit/random.ts';
import { createSealer } from './kit/seal.ts';
import type { Sealer } from './kit/seal.ts';
import { StartError } from './kit/start-error.ts';

/** What the service keeps secret, and what is derived from it: the same in every process of one installation. */
export interface Secrets {
  sealer: Sealer;
  pepper: Uint8Array;
  /** Keys the ids that are made from a number. */
  idSecret: string;
  /** Proves that a page's form is ours. */
  formKey: string;
  /** Signs the simulated networks' callbacks, and the credentials we call them with. */
  simulatorCallbackSecret: string;
  simulatorBearerSecret: string;
  /** Makes the links to a merchant's simulated phone unguessable on a production server. */
  simulatorPhoneSecret: string;
}

/** From the settings, or in development from the data directory, where they are made at the first start. */
export function readSecrets(config: Config, random: Random): Secrets {
  const kept = config.sealKey === null || config.keyPepper === null ? readKept(config, random) : null;
  const sealKey = config.sealKey ?? kept?.seal_key ?? '';
  const pepper = config.keyPepper ?? kept?.key_pepper ?? '';
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', keyOf(sealKey), Buffer.alloc(0), `dalasi ${purpose}`, 32)).toString('hex');
  return {
    sealer: createSealer(sealKey, config.sealKeysOld),
    pepper: keyOf(pepper),
    idSecret: derive('ids'),
    formKey: derive('forms'),
    simulatorCallbackSecret: derive('simulator callbacks'),
    simulatorBearerSecret: derive('simulator credentials'),
    simulatorPhoneSecret: derive('simulator phone'),
  };
}

interface KeptSecrets {
  seal_key: string;
  key_pepper: string;
}

function readKept(config: Config, random: Random): KeptSecrets {
  const path = join(config.dataDirectory, 'secrets.json');
  if (existsSync(path)) return parseKept(path);
  mkdirSync(config.dataDirectory, { recursive: true });
  const key = () => Buffer.from(random.bytes(32)).toString('base64');
  const made: KeptSecrets = { seal_key: key(), key_pepper: key() };
  // Written beside and renamed, so that a crash never leaves half a file: what it seals could not be opened again.
  writeFileSync(`${path}.new`, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  chmodSync(`${path}.new`, 0o600);
  renameSync(`${path}.new`, path);
  return made;
}

function parseKept(path: string): KeptSecrets {
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Partial<KeptSecrets>;
    const { seal_key: sealKey, key_pepper: keyPepper } = kept;
    if (typeof sealKey === 'string' && typeof keyPepper === 'string')
      return { seal_key: sealKey, key_pepper: keyPepper };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new StartError(`${path} is not what the service wrote there; restore it: what it seals needs it to be opened.`);
}

function keyOf(text: string): Buffer {
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
}
