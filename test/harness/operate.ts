import assert from 'node:assert/strict';
import { readConfig } from '../../server/src/configuration/config.ts';
import { readInput } from '../../server/src/kit/command-line.ts';
import type { Database } from '../../server/src/kit/db.ts';
import type { Command, CommandContext, CommandResult } from '../../server/src/operator/command.ts';

/** Runs an operator's command that needs only the database and default settings; `args` follow its name. */
export function operate(
  { db }: { db: Database },
  commands: readonly Command[],
  name: string,
  args: readonly string[] = [],
): Promise<CommandResult> {
  const command = commands.find((one) => one.name === name);
  assert.ok(command, name);
  const rateLimits = readConfig({ APP_ENV: 'development' });
  return command.run(
    { db, rateLimits } as Partial<CommandContext> as CommandContext,
    readInput('operator', command, args),
  );
}
