import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface UnpackedChromium {
  executable: string;
  /** NSS, NSPR and expat, for systems that do not have them. */
  libraryDirectory: string;
  fontDirectory: string;
}

// Unpacking takes two seconds on a laptop; an older lock is a killed process's.
const lockStaleAfterMs = 60_000;
const lockPollMs = 50;

/**
 * Unpacks the browser once for each user and version; the other processes wait. Two that unpack to one directory fail
 * with "text file busy", and one copy for each test file would cost 200 MB.
 */
export async function unpackChromium(): Promise<UnpackedChromium> {
  const directory = join(tmpdir(), `dalasi-chromium-${await packageVersion()}-${userInfo().username}`);
  while (!existsSync(directory)) {
    const lock = `${directory}.lock`;
    if (await acquireLock(lock)) {
      try {
        if (!existsSync(directory)) await unpackTo(directory);
      } finally {
        await rm(lock, { force: true });
      }
    } else {
      await delay(lockPollMs);
    }
  }
  return {
    executable: join(directory, 'chromium'),
    libraryDirectory: join(directory, 'al2023', 'lib'),
    fontDirectory: join(directory, 'fonts'),
  };
}

/**
 * The browser's environment. Its fonts are the package's, so that a text is equally wide on every machine. The
 * package's libraries are in the loader's path only where the system lacks them: they are built for another
 * distribution.
 */
export async function chromiumEnvironment(unpacked: UnpackedChromium): Promise<Record<string, string>> {
  const fontsFile = join(unpacked.fontDirectory, 'dalasi-fonts.conf');
  const environment: Record<string, string> = { ...definedEnvironment(), FONTCONFIG_FILE: fontsFile };
  if (await starts(unpacked.executable, environment)) return environment;
  const before = environment['LD_LIBRARY_PATH'];
  environment['LD_LIBRARY_PATH'] = before ? `${unpacked.libraryDirectory}:${before}` : unpacked.libraryDirectory;
  await run(unpacked.executable, ['--version'], { env: environment });
  return environment;
}

async function starts(executable: string, environment: Record<string, string>): Promise<boolean> {
  try {
    await run(executable, ['--version'], { env: environment });
    return true;
  } catch {
    return false;
  }
}

async function unpackTo(directory: string): Promise<void> {
  const partial = await mkdtemp(`${directory}-partial-`);
  // In its own process, because the package unpacks to the process's temporary directory. It unpacks the libraries only
  // in the environment that needs them.
  const program = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`;
  await run(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    env: { ...definedEnvironment(), TMPDIR: partial, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
  });
  const fonts = join(directory, 'fonts');
  await mkdir(join(partial, 'fonts'), { recursive: true });
  await writeFile(join(partial, 'fonts', 'dalasi-fonts.conf'), fontConfiguration(fonts));
  await rename(partial, directory);
}

/** Open Sans of the package first; the system's fonts only for letters that it lacks. */
function fontConfiguration(fontDirectory: string): string {
  const prefer = ['sans-serif', 'system-ui', 'ui-sans-serif', 'serif', 'monospace', 'ui-monospace']
    .map(
      (family) =>
        `<alias binding="strong"><family>${family}</family><prefer><family>Open Sans</family></prefer></alias>`,
    )
    .join('\n  ');
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${fontDirectory}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${fontDirectory}/cache</cachedir>
  ${prefer}
</fontconfig>
`;
}

async function acquireLock(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx')).close();
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    await removeStaleLock(path);
    return false;
  }
}

async function removeStaleLock(path: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > lockStaleAfterMs) await rm(path, { force: true });
  } catch {
    // The lock is gone: its owner is done.
  }
}

async function packageVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const manifest = JSON.parse(await readFile(join(entry, '..', '..', '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
