import type { Command } from './command.ts';

/** By the first word, in the order in which help shows them. Each is loaded when it is typed and waits for no other. */
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

/** The commands whose first word this is; none when it is no such word. */
export async function loadCommands(firstWord: string): Promise<readonly Command[]> {
  return (await groups.get(firstWord)?.()) ?? [];
}

/** Everything that can be typed behind `dalasi`. */
export async function loadAllCommands(): Promise<readonly Command[]> {
  const loaded = await Promise.all([...groups.values()].map((load) => load()));
  return loaded.flat();
}
