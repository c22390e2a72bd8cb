import { UsageError } from '../kit/command-line.ts';
import type { Command } from './command.ts';
import { compareScripts } from './compare-scripts.ts';
import { readReleasedScripts } from './released-scripts.ts';

// What everybody can open: the entrance of each part that has scripts, and a page of the payers' that is not found.
const openPages = ['/dashboard/sign-in', '/operator/sign-in', '/pos', '/pay/not-found'];

const verify: Command = {
  name: 'pages verify',
  usage: '[--url <address>] [--pages <paths>]',
  summary: 'Compare the scripts of a running server with those of this release',
  details:
    '  --url    Where browsers reach the server; default: PUBLIC_URL\n' +
    '  --pages  More pages, with commas between them, such as a payment link of your own: /link/…\n' +
    '  Run it from a checkout of the release, best on another machine. Exit code 1 if anything differs.',
  options: {
    url: { type: 'string', required: false },
    pages: { type: 'string', required: false },
  },
  positionals: 0,
  access: 'none',
  async run({ installation }, { options }) {
    const { url = installation.publicUrl ?? `http://127.0.0.1:${installation.port}`, pages = '' } = options;
    const more = pages.split(',').filter((path) => path !== '');
    if (!URL.canParse(url)) throw new UsageError('--url must be an address, such as https://pay.example.gm.');
    if (more.some((path) => !path.startsWith('/'))) throw new UsageError('--pages must be paths that begin with /.');
    const released = await readReleasedScripts();
    const paths = [...openPages, ...more];
    const compared = await Promise.all(paths.map((path) => compareScripts(new URL(path, url), released)));
    const findings = compared.flatMap((each) => each.findings);
    const scripts = compared.reduce((sum, each) => sum + each.scripts, 0);
    const isRight = findings.length === 0 && scripts > 0;
    const text = [
      ...findings.map(({ page, what }) => `${page}: ${what}.`),
      ...(scripts === 0 ? ['No page has a script: this is not the server.'] : []),
      `The scripts are ${isRight ? 'those of this release' : 'NOT those of this release'}: ${scripts} scripts of ${paths.length} pages.`,
    ].join('\n');
    return { text, data: { ok: isRight, pages: paths, scripts, findings }, exitCode: isRight ? 0 : 1 };
  },
};

export const pageCommands: readonly Command[] = [verify];
