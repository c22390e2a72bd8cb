import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { withoutMetadata } from '../../merchants/logo/png-check.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { NetworkDetails } from './network-details.ts';

export interface LogoPagesOptions {
  merchants: { byId(id: string): Promise<Pick<Merchant, 'id' | 'logoSetAt'> | undefined> };
  /** The PNG of a merchant. */
  findLogo: (merchantId: string) => Promise<Uint8Array | null>;
  networks: Pick<NetworkDetails, 'logos'>;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The path of a merchant's logo. It changes with the logo, so that browsers keep each one for good. */
export function merchantLogoPath({ id, logoSetAt }: { id: string; logoSetAt: Date }): string {
  return `/logos/${id}/${logoSetAt.getTime().toString(36)}.png`;
}

/** The logos of merchants and networks, which the payer's pages show, from our own address. */
export const logoPages: FastifyPluginAsync<LogoPagesOptions> = async (app, { merchants, findLogo, networks }) => {
  const byPath = new Map([...networks.logos.values()].map(({ path, png }) => [path, png]));
  const schema = { hide: true };

  app.get('/logos/networks/:file', { schema }, async (request, reply) => sendLogo(reply, byPath.get(request.url)));

  app.get('/logos/:merchant/:file', { schema }, async (request, reply) => {
    const { merchant: id } = request.params as { merchant: string };
    const merchant = uuid.test(id) ? await merchants.byId(id) : undefined;
    // A logo that was replaced has another path; an old page then shows none.
    const isCurrent = merchant?.logoSetAt && request.url === merchantLogoPath({ id, logoSetAt: merchant.logoSetAt });
    const png = isCurrent ? await findLogo(id) : null;
    return sendLogo(reply, png === null ? undefined : withoutMetadata(png));
  });
};

const yearSeconds = 365 * 24 * 60 * 60;

function sendLogo(reply: FastifyReply, png: Buffer | undefined): FastifyReply {
  reply.headers({ 'x-content-type-options': 'nosniff', 'content-security-policy': `default-src 'none'` });
  if (png === undefined) {
    return reply.code(404).headers({ 'cache-control': 'no-store' }).type('text/plain; charset=utf-8').send('No logo\n');
  }
  return reply
    .headers({ 'cache-control': `public, max-age=${yearSeconds}, immutable` })
    .type('image/png')
    .send(png);
}
