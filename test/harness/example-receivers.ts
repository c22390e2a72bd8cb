import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ProcessWorld, type TestProcess } from './process.ts';
import { eventually } from './eventually.ts';

const repository = join(import.meta.dirname, '../..');

export type ExampleLanguage = 'TypeScript' | 'PHP' | 'Python' | 'Go';

/** A running program of examples/. */
export interface ExampleReceiver {
  url: string;
  /** Everything it has printed, on both streams. */
  printed(): string;
}

export interface ExampleSettings {
  secret: string;
  /** Which of the two signatures it verifies. */
  signature: 'standard' | 'service';
}

/** A running shop of examples/. */
export type ExampleShop = ExampleReceiver;

export interface ShopSettings {
  secret: string;
  key: string;
  dalasiUrl: string;
}

// Shows whether a language can run here. TypeScript always can: this is Node.
const runtimes: Record<Exclude<ExampleLanguage, 'TypeScript'>, readonly string[]> = {
  PHP: ['php', '--version'],
  Python: ['python3', '--version'],
  Go: ['go', 'version'],
};

export function availableLanguages(): { present: ExampleLanguage[]; absent: ExampleLanguage[] } {
  const languages = Object.entries(runtimes) as [Exclude<ExampleLanguage, 'TypeScript'>, readonly string[]][];
  const runs = ([, [program = '', ...args]]: (typeof languages)[number]): boolean =>
    spawnSync(program, args, { stdio: 'ignore' }).status === 0;
  const present = languages.filter(runs).map(([language]) => language);
  const absent = languages.map(([language]) => language).filter((language) => !present.includes(language));
  return { present: ['TypeScript', ...present], absent };
}

const shopCommands: Record<Exclude<ExampleLanguage, 'Go'>, readonly string[]> = {
  TypeScript: [process.execPath, 'examples/shop.ts'],
  PHP: ['php', '-S', '127.0.0.1:0', 'examples/shop.php'],
  Python: ['python3', 'examples/shop.py'],
};

/** Starts the programs in examples/ for one test file. */
export function createExampleWorld() {
  const processes = new ProcessWorld();
  let goProgram: Promise<string> | undefined;

  async function commandOf(language: ExampleLanguage): Promise<readonly string[]> {
    if (language === 'TypeScript') return [process.execPath, 'examples/receiver.ts'];
    if (language === 'PHP') return ['php', 'examples/receiver.php'];
    if (language === 'Python') return ['python3', 'examples/receiver.py'];
    // `go run` would leave its program running.
    goProgram ??= buildGo(processes);
    return [await goProgram];
  }

  /** Does not wait until it listens: with invalid settings it ends. */
  async function launch(language: ExampleLanguage, settings: Partial<ExampleSettings>): Promise<TestProcess> {
    // The PHP example stores its data in the temporary directory.
    const directory = processes.newDataDirectory();
    mkdirSync(directory);
    return processes.start(await commandOf(language), {
      PORT: '0',
      TMPDIR: directory,
      ...(settings.secret === undefined ? {} : { DALASI_WEBHOOK_SECRET: settings.secret }),
      ...(settings.signature === undefined ? {} : { DALASI_SIGNATURE: settings.signature }),
    });
  }

  async function listening(language: ExampleLanguage, program: TestProcess): Promise<ExampleReceiver> {
    const printed = (): string => program.stdout() + program.stderr();
    let url: string | undefined;
    await eventually(`the ${language} example listens`, () => {
      url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed())?.[0];
      return url !== undefined;
    });
    return { url: url ?? '', printed };
  }

  return {
    launch,
    async start(language: ExampleLanguage, settings: ExampleSettings): Promise<ExampleReceiver> {
      return listening(language, await launch(language, settings));
    },
    async startShop(language: Exclude<ExampleLanguage, 'Go'>, settings: ShopSettings): Promise<ExampleShop> {
      const directory = processes.newDataDirectory();
      mkdirSync(directory);
      const program = processes.start(shopCommands[language], {
        PORT: '0',
        TMPDIR: directory,
        // Python would leave the imported receiver's bytecode beside the example.
        PYTHONDONTWRITEBYTECODE: '1',
        DALASI_URL: settings.dalasiUrl,
        DALASI_SECRET_KEY: settings.key,
        DALASI_WEBHOOK_SECRET: settings.secret,
      });
      return listening(language, program);
    },
    close: () => processes.close(),
  };
}

async function buildGo(processes: ProcessWorld): Promise<string> {
  const program = `${processes.newDataDirectory()}-receiver`;
  const source = join(repository, 'examples/receiver.go');
  const build = processes.start(['go', 'build', '-o', program, source], { GOFLAGS: '', GO111MODULE: 'auto' });
  const { code } = await build.ended;
  if (code !== 0) throw new Error(`the Go example does not build:\n${build.stderr()}`);
  return program;
}
