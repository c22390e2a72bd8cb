import { UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';
import { isTestApiKey, isWellFormedApiKey, maskApiKey } from '../../server/src/merchants/api-key.ts';
import { defaultUrl, readTextFile, readUrl, refusePlainText } from '../api/settings.ts';
import { CommandFailure, describeOptions, type Command, type CommandContext, type ExitCode } from '../command.ts';
import { readSavedKeys, savedKeysPath, writeSavedKeys } from './saved-keys.ts';
import { showKeys } from './show-keys.ts';

const namePattern = /^[A-Za-z0-9][\w.-]{0,49}$/;

/** The saved API keys of this machine. */
export const keyCommands: readonly Command[] = [
  showKeys,
  {
    name: 'keys save',
    usage: '<name> [--key-file <file>] [--url <url>] [--replace]',
    summary: 'Save an API key on this machine and use it',
    details: `  The key comes from a file, standard input or a prompt, never from the command
  line, which other users of the machine can see.

${describeOptions([
  ['--key-file FILE', 'file with the API key'],
  ['--url URL', `address of the service; default: DALASI_URL, else ${defaultUrl}`],
  ['--replace', 'overwrite a key of this name'],
])}

  dalasi keys save shop --url https://pay.example.gm
  dalasi keys save shop < key.txt`,
    run: saveKey,
  },
  {
    name: 'keys use',
    usage: '<name>',
    summary: 'Use a saved key from now on',
    async run(context, { positionals }) {
      const name = positionals[0] ?? '';
      const saved = readSavedKeys(context.environment);
      const found = saved.keys.get(name);
      if (!found) throw new CommandFailure(noSuchKey(name, [...saved.keys.keys()]));
      writeSavedKeys(context.environment, { ...saved, current: name });
      printKeyInUse(context, name, found);
      return 0;
    },
  },
  {
    name: 'keys remove',
    usage: '<name>',
    summary: 'Delete a saved key; it stays valid at the service',
    async run({ environment, output }, { positionals }) {
      const name = positionals[0] ?? '';
      const { current, keys } = readSavedKeys(environment);
      if (!keys.delete(name)) throw new CommandFailure(noSuchKey(name, [...keys.keys()]));
      const newCurrent = current === name ? null : current;
      writeSavedKeys(environment, { current: newCurrent, keys });
      const next = newCurrent === null ? ' No saved key is in use now.' : '';
      output.result(`Removed ${name}.${next}`, { removed: name, current: newCurrent });
      return 0;
    },
  },
];

async function saveKey(context: CommandContext, { positionals, options, flags }: CommandInput): Promise<ExitCode> {
  const name = positionals[0] ?? '';
  if (!namePattern.test(name) || isWellFormedApiKey(name)) {
    throw new UsageError(
      isWellFormedApiKey(name)
        ? 'This is the key itself. Your shell may have stored it in its history: revoke it. Give a name; the command prompts for the key.'
        : 'A name is 1 to 50 letters, digits, dots, dashes and underscores, and begins with a letter or a digit.',
    );
  }
  const url = readUrl(options['url'] ?? (context.environment['DALASI_URL'] || defaultUrl));
  const saved = readSavedKeys(context.environment);
  if (saved.keys.has(name) && !flags.has('replace')) {
    throw new CommandFailure(`A key is already saved as ${name}. Choose another name, or add --replace.`);
  }
  const file = options['key-file'];
  const promptForKey = (): Promise<string> => context.terminal.readSecret('API key (it is not shown): ');
  const key = file === undefined ? await promptForKey() : readTextFile(file, '--key-file');
  if (!isWellFormedApiKey(key)) {
    throw new CommandFailure('This is not an API key: a key begins with sk_test_ or sk_live_ and has 46 characters.');
  }
  refusePlainText(url, isTestApiKey(key));
  const entry = { url: url.href.replace(/\/$/, ''), key };
  saved.keys.set(name, entry);
  writeSavedKeys(context.environment, { current: name, keys: saved.keys });
  printKeyInUse(context, name, entry);
  return 0;
}

function printKeyInUse(
  { environment, output }: CommandContext,
  name: string,
  { key, url }: { key: string; url: string },
): void {
  const overrideNote = environment['DALASI_API_KEY'] ? '\nDALASI_API_KEY is set and takes precedence.' : '';
  const data = { name, key: maskApiKey(key), url, path: savedKeysPath(environment) };
  output.result(`${name} is the key in use: ${data.key} at ${url}, saved in ${data.path}.${overrideNote}`, data);
}

function noSuchKey(name: string, names: readonly string[]): string {
  const known = names.length === 0 ? 'None is saved.' : `There are: ${names.join(', ')}.`;
  return `No key is saved as ${JSON.stringify(name)}. ${known}`;
}
