import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

// PostgreSQL's own default. The passwords made by us have 192 bits and need no stretching, but others' may.
const iterations = 4_096;
const saltBytes = 16;

/**
 * What PostgreSQL stores for a password (RFC 5803), for `ALTER ROLE … PASSWORD`: computed here so that the password
 * itself appears neither in the statement nor in a server's log of statements. Printable ASCII only; for other text
 * the server would have to normalise it first.
 */
export function scramVerifier(password: string): string {
  const salt = randomBytes(saltBytes);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
