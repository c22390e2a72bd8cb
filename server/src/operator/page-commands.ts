import { UsageError } from '../kit/command-line.ts';
import { reasonOf, StartError } from '../kit/start-error.ts';
import type { Command } from './command.ts';
import { comparePages } from '../app/page-scripts/compare-scripts.ts';

const verify: Command = {
  name: 'pages verify',
  usage: '[--url <address>] [--pages <paths>]',
  summary: 'Compare the scripts of a running server with those of this release',
  details:
    '  --url    Where browsers reach the server; default: PUBLIC_URL\n' +
    '  --pages  More pages, with commas between them, such as a payment link of your own: /link/…\n' +
    '  Run it from a checkout of the release, best on another machine. Exit code 1 if anything differs.',
  access: 'none',
  async run({ installation }, { options }) {
    const { url = installation.publicUrl ?? `http://127.0.0.1:${installation.port}`, pages = '' } = options;
    const more = pages.split(',').filter((path) => path !== '');
    if (!/^https?:/.test(URL.parse(url)?.protocol ?? ''))
      throw new UsageError('--url must be an address, such as https://pay.example.gm.');
    if (more.some((path) => !path.startsWith('/'))) throw new UsageError('--pages must be paths that begin with /.');
    const compared = await comparePages(url, { more }).catch((error: unknown) => {
      throw new StartError(`${url} cannot be reached: ${reasonOf((error as Error).cause ?? error)}.`, { cause: error });
    });
    const { isRight, pages: paths, scripts, findings } = compared;
    const text = [
      ...findings.map(({ page, what }) => `${page}: ${what}.`),
      ...(scripts === 0 ? ['No page has a script: this is not the server.'] : []),
      `The scripts are ${isRight ? 'those of this release' : 'NOT those of this release'}: ${scripts} scripts of ${paths.length} pages.`,
    ].join('\n');
    return { text, data: { ok: isRight, pages: paths, scripts, findings }, exitCode: isRight ? 0 : 1 };
  },
};

export const pageCommands: readonly Command[] = [verify];
