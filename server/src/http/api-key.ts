import type { FastifyRequest } from 'fastify';
import { AppError } from '../kit/app-error.ts';
import type { KeyAuthenticator } from '../merchants/authenticate-key.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { headerCount } from './header-count.ts';

/**
 * The merchant of the request's key (interface, "Authentication"). Throws AppError `api_key_missing` or
 * `api_key_invalid`; the latter never tells a mistyped key from an unknown or a revoked one. Two headers are refused
 * with `invalid_request` (RFC 6750, section 3.1): which of them counts would depend on who reads them.
 */
export async function authenticate(authenticator: KeyAuthenticator, request: FastifyRequest): Promise<Merchant> {
  const header = request.headers.authorization;
  if (headerCount(request, 'authorization') > 1) {
    throw new AppError('invalid_request', 'Send one Authorization header, not several.');
  }
  if (header === undefined) {
    throw new AppError('api_key_missing', 'Send your secret key as "Authorization: Bearer sk_test_…".');
  }
  const key = /^Bearer (\S+)$/i.exec(header)?.[1];
  const merchant = key === undefined ? undefined : await authenticator(key);
  if (!merchant) {
    throw new AppError(
      'api_key_invalid',
      'This API key is not valid. Check that it was copied whole and is not revoked.',
    );
  }
  return merchant;
}
