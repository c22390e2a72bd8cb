import assert from 'node:assert/strict';
import { readConfig } from '../../server/src/configuration/config.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { readInput } from '../../server/src/kit/command-line.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
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
  return command.run(contextOfCommand({ db, rateLimits }), readInput('operator', command, args));
}

/** A context of these parts, and what the audit entry of a command needs. */
export function contextOfCommand(parts: Partial<CommandContext>): CommandContext {
  const onboarding = { clock: systemClock, newId: () => uuidV7(systemClock, systemRandom) };
  return { onboarding, shellUser: null, ...parts } as unknown as CommandContext;
}
