import type { Command } from './command.ts';
import { eventCommands } from './events/event-commands.ts';
import { keyCommands } from './keys/key-commands.ts';
import { listenCommand } from './listen/listen-command.ts';
import { triggerCommand } from './trigger/trigger-command.ts';
import { webhookCommands } from './webhooks/webhook-commands.ts';

/** Everything that can be typed behind `dalasi`, in the order in which help shows it. */
export const commands: readonly Command[] = [
  listenCommand,
  triggerCommand,
  ...eventCommands,
  ...webhookCommands,
  ...keyCommands,
];
