import type { Command } from '../command.ts';
import { checkCommand } from './check.ts';
import { verifyCommand } from './verify.ts';

/** What helps whoever writes a receiver. */
export const webhookCommands: readonly Command[] = [verifyCommand, checkCommand];
