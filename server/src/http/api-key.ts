import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../kit/app-error.ts';
import type { KeyAuthenticator, KeyHolder } from '../merchants/authenticate-key.ts';
import { headerCount } from './header-count.ts';
import type { KeylessLimit, KeylessTurn } from './keyless-limit.ts';

export interface AuthenticationOptions {
  authenticator: KeyAuthenticator;
  keylessLimit: KeylessLimit;
}

/**
 * Whose key the request carries (docs/api.md, "Requests"). Throws AppError `api_key_missing` or `api_key_invalid`; the
 * latter never tells a mistyped key from an unknown or a revoked one. Throws `rate_limited` for an address that has sent
 * too many requests without a valid key.
 * Two headers are refused with `invalid_request` (RFC 6750, section 3.1): which of them counts would depend on who reads
 * them.
 */
export async function authenticate(
  { authenticator, keylessLimit }: AuthenticationOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<KeyHolder> {
  const header = request.headers.authorization;
  if (headerCount(request, 'authorization') > 1) {
    throw new AppError('invalid_request', 'Send one Authorization header, not several.');
  }
  const key = header === undefined ? undefined : /^Bearer (\S+)$/i.exec(header)?.[1];
  const recalled = key === undefined ? 'invalid' : authenticator.recall(key);
  const take = (): KeylessTurn => keylessLimit.take(request.ip, { isNew: recalled === 'new' });
  // A key that was valid a moment ago passes, whatever else comes from its address.
  let turn = recalled === 'valid' ? undefined : take();
  if (turn?.refusal) {
    reply.headers(turn.headers);
    throw turn.refusal;
  }
  const holder = key === undefined ? undefined : await authenticator.find(key);
  if (holder) {
    turn?.giveBack?.();
    return holder;
  }
  turn ??= take();
  reply.headers(turn.headers);
  if (header === undefined) {
    throw new AppError('api_key_missing', 'Send your secret key as "Authorization: Bearer sk_test_…".');
  }
  throw new AppError(
    'api_key_invalid',
    'This API key is not valid. Check that it was copied whole and is not revoked.',
  );
}
