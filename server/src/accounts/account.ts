/** Merchants' people sign in to the dashboard, the operator's to the console; neither login opens the other. */
export type Realm = 'merchant' | 'operator';

/** A login of a person. */
export interface Account {
  id: string;
  realm: Realm;
  /** In small letters. */
  email: string;
  name: string;
  /** Null until an invited person has chosen a password. */
  passwordHash: string | null;
  emailVerifiedAt: Date | null;
  /** Sealed; in force once confirmed. */
  totpSecret: Buffer | null;
  totpConfirmedAt: Date | null;
  createdAt: Date;
}

export interface Passkey {
  accountId: string;
  id: string;
  credentialId: string;
  publicKey: Uint8Array;
  signCount: bigint;
  /** As its owner called it. */
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** A signed-in browser. */
export interface Session {
  id: string;
  accountId: string;
  /** The browser and system, as it names itself. */
  device: string;
  address: string;
  /** False between the password and the second factor. */
  isComplete: boolean;
  secondFactorAt: Date | null;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

/** An address in the form in which it is stored and compared. */
export function normalizedEmail(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase();
}
