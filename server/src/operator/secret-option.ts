import { readFile } from 'node:fs/promises';
import { UsageError } from '../kit/command-line.ts';
import { unreadableFile } from '../kit/start-error.ts';
import type { CommandContext } from './command.ts';

/**
 * The value of an option that takes a secret: `@file`, `-` for standard input, or the value itself, which other people on the
 * machine see while the command runs. Throws UsageError.
 */
export async function readSecretOption(
  { readStandardInput }: Pick<CommandContext, 'readStandardInput'>,
  value: string,
): Promise<string> {
  if (value === '-') return (await readStandardInput()).toString('utf8').trim();
  return value.startsWith('@') ? (await readTextFile(value.slice(1))).trim() : value;
}

/** The value of an option that takes a file: its path, with or without `@`, or `-`. Throws UsageError. */
export async function readFileOption(
  { readStandardInput }: Pick<CommandContext, 'readStandardInput'>,
  value: string,
): Promise<string> {
  return value === '-' ? (await readStandardInput()).toString('utf8') : readTextFile(value.replace(/^@/, ''));
}

async function readTextFile(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(unreadableFile(path, error));
  });
}
