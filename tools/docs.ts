/**
 * Writes docs/settings.md from the table of settings in server/src/configuration/settings.ts.
 *
 *     node tools/docs.ts              writes the file
 *     node tools/docs.ts --check      fails where the file is out of date
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { settings, type Setting } from '../server/src/configuration/settings.ts';

const settingsPath = new URL('../docs/settings.md', import.meta.url);

/** The text of the page. */
export function settingsPage(): string {
  return `# Settings

Settings are environment variables. They are read and checked once, at the start; an invalid value stops the start with
an error that names it and its valid values. An empty value counts as not set.

A production server (\`APP_ENV=production\`, which is also the default once \`DATABASE_URL\` is set) needs \`SEAL_KEY\`,
\`KEY_PEPPER\` and \`PUBLIC_URL\`. Make a key with \`openssl rand -base64 32\`, and keep it as carefully as the database:
without it, encrypted values cannot be decrypted. [Operations](operations.md) explains how settings interact.

| Setting | Default | What it is for |
|---|---|---|
${settings.map(settingRow).join('\n')}

This page is written by \`node tools/docs.ts\` from \`server/src/configuration/settings.ts\`; change that file and run the command.
`;
}

function settingRow({ name, description, default: value }: Setting): string {
  return `| \`${name}\` | ${value === null ? 'none' : defaultText(value)} | ${cell(description)} |`;
}

/** A value is shown as code, a sentence as text. */
function defaultText(value: string): string {
  return value.includes(' ') ? cell(value) : `\`${value}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    if (readFileSync(settingsPath, { encoding: 'utf8', flag: 'a+' }) !== settingsPage()) {
      console.error('docs/settings.md is not what server/src/configuration/settings.ts says. Run: node tools/docs.ts');
      process.exitCode = 1;
    }
  } else {
    writeFileSync(settingsPath, settingsPage());
  }
}
