import type { Command } from './command.ts';

/** By the first word, in the order of the help. A group is imported only when it is used. */
const groups = new Map<string, () => Promise<readonly Command[]>>([
  ['listen', async () => [(await import('./listen/listen-command.ts')).listenCommand]],
  ['trigger', async () => [(await import('./trigger/trigger-command.ts')).triggerCommand]],
  ['events', async () => (await import('./events/event-commands.ts')).eventCommands],
  [
    'webhooks',
    async () => [
      (await import('./webhooks/verify.ts')).verifyCommand,
      (await import('./webhooks/check.ts')).checkCommand,
    ],
  ],
  ['keys', async () => (await import('./keys/key-commands.ts')).keyCommands],
]);

/** The commands with this first word. */
export async function loadCommands(firstWord: string): Promise<readonly Command[]> {
  return (await groups.get(firstWord)?.()) ?? [];
}

/** All commands of `dalasi`. */
export async function loadAllCommands(): Promise<readonly Command[]> {
  const loaded = await Promise.all([...groups.values()].map((load) => load()));
  return loaded.flat();
}
