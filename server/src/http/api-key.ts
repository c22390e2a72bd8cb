import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import type { KeyAuthenticator, KeyHolder } from '../merchants/authenticate-key.ts';
import { headerCount } from './header-count.ts';
import type { KeylessLimit, KeylessPermit } from './keyless-limit.ts';

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
  const cachedStatus = key === undefined ? 'invalid' : authenticator.cachedStatus(key);
  const takePermit = (): KeylessPermit => keylessLimit.take(request.ip, { isNew: cachedStatus === 'new' });
  // A key that was valid a moment ago passes, whatever else comes from its address.
  let permit = cachedStatus === 'valid' ? undefined : takePermit();
  if (permit?.refusal) {
    reply.headers(permit.headers);
    throw permit.refusal;
  }
  const holder = key === undefined ? undefined : await authenticator.find(key);
  if (holder) {
    permit?.release?.();
    return holder;
  }
  permit ??= takePermit();
  reply.headers(permit.headers);
  if (header === undefined) {
    throw new AppError('api_key_missing', 'Send your secret key as "Authorization: Bearer sk_test_…".');
  }
  if (key === undefined) {
    throw new AppError('api_key_invalid', 'Write the header as: Authorization: Bearer <key>.');
  }
  throw new AppError(
    'api_key_invalid',
    'This API key is not valid. Check that it was copied whole and is not revoked.',
  );
}
