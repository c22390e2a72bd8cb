import Type from 'typebox';
import { fileRoute, type ApiRoute } from '../api/route.ts';
import type { Database } from '../kit/db.ts';
import { english, findLanguage, languages } from '../languages/languages.ts';
import { merchantOf } from '../merchants/merchant-of.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import { getTerminal } from '../terminals/manage-terminals.ts';
import { qrCodeUrl } from '../terminals/terminal-address.ts';
import type { TerminalAddressSettings } from '../terminals/terminal.ts';
import { posterTexts } from './poster-texts.ts';
import { findLogo } from '../merchants/logo/merchant-logo.ts';
import { contentTypes, posterFormats } from './poster.ts';
import type { PosterRenderer } from './poster-renderer.ts';
import { posterSizes } from './sizes.ts';

interface PosterContext {
  db: Database;
  merchants: MerchantDirectory;
  networks: NetworkRegistry;
  posters: PosterRenderer;
  settings: TerminalAddressSettings;
}

const oneOf = <Value extends string>(values: readonly Value[], description: string) =>
  Type.Optional(
    Type.Unsafe<Value>(
      Type.Union(
        values.map((value) => Type.Literal(value)),
        { description },
      ),
    ),
  );

const download = fileRoute({
  path: '/v1/virtual-terminals/download/:id',
  operationId: 'downloadVirtualTerminalPoster',
  tag: 'Virtual terminals',
  summary: 'Download a counter’s poster',
  description:
    'Returns a poster with the counter’s QR code, to print and hang up: a PNG of 1440 × 2340 pixels, ' +
    'unless `format` or `size` ask for another.',
  query: Type.Object(
    {
      format: oneOf(posterFormats, '`png` for screens and copy shops; `pdf` and `svg` are sharp at any size.'),
      size: oneOf(
        posterSizes,
        '`a4`, `a5`, `a6`: that paper, 1654 × 2340 pixels as PNG; `sticker`: 100 × 100 mm, 1440 × 1440 pixels.',
      ),
      language: oneOf(
        languages.map(({ code }) => code),
        'The language of the poster’s fixed texts; defaults to English.',
      ),
    },
    { additionalProperties: false },
  ),
  contentTypes: Object.values(contentTypes),
  async handle(context: PosterContext, { caller, params, query }) {
    const { db, networks, settings } = context;
    const { format = 'png', size = 'poster', language = english.code } = query;
    const terminal = await getTerminal(db, caller.merchantId, params.id);
    const merchant = await merchantOf(context, caller);
    const bytes = await context.posters.render(merchant.id, {
      format,
      size,
      merchantName: merchant.name,
      logo: await findLogo(db, merchant.id),
      terminalName: terminal.name,
      code: terminal.code,
      qrCodeUrl: qrCodeUrl(settings, terminal),
      networks: networks
        .collecting(merchant)
        .map(({ capabilities: { network: id, displayName } }) => ({ id, displayName })),
      testMode: caller.testMode,
      texts: posterTexts(findLanguage(language) ?? english),
      language,
    });
    const suffix = size === 'poster' ? '' : `-${size}`;
    return { name: `poster-${terminal.code}${suffix}.${format}`, contentType: contentTypes[format], bytes };
  },
});

export const posterRoutes: readonly ApiRoute<PosterContext>[] = [download];
