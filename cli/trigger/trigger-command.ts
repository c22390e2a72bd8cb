import { eventKinds, type EventKind } from '../../server/src/events/kinds.ts';
import { table, UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { amountToJson, parseHundredths } from '../../server/src/kit/money.ts';
import { createApi } from '../api/client.ts';
import { apiOptionDetails, apiOptions, readApiSettings } from '../api/settings.ts';
import { CommandFailure, describeOptions, type Command, type CommandContext, type ExitCode } from '../command.ts';
import { findEvent, findEventOf } from '../events/event-row.ts';
import type { EventRow } from '../api/responses.ts';
import { readKind } from '../events/read-kinds.ts';
import { waitFor, type TriggerContext, type CreatedRecord, type Recipe } from './recipe.ts';
import { recipes } from './recipes.ts';

const amountDefault = '100';

export const triggerCommand: Command = {
  name: 'trigger',
  usage: '[<kind>] [--amount <dalasi>] [--endpoint <id>] [--list]',
  summary: 'Trigger an event in the test environment',
  details: `  The command calls the API with a test key, waits for the event and prints it.

${describeOptions([
  ['--list', 'list the kinds of event and how each is triggered'],
  ['--amount DALASI', `amount of the payment or transfer; default: ${amountDefault}`],
  ['--endpoint ID', 'endpoint of webhook_endpoint.test'],
  ...apiOptionDetails,
])}

  dalasi trigger charge.succeeded --amount 450.50`,
  moreOptions: apiOptions,
  run: trigger,
};

async function trigger(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  if (input.flags.has('list')) return listKinds(context);
  const [typed] = input.positionals;
  if (typed === undefined) throw new UsageError('Give a kind of event. See: dalasi trigger --list');
  const kind = readKind(typed);
  const recipe: Recipe = recipes[kind];
  if ('cannot' in recipe) throw new CommandFailure(recipe.cannot);
  const triggerContext = createTriggerContext(context, input);
  const event = await waitForEvent(triggerContext, kind, await recipe.run(triggerContext));
  const { id, object_id: objectId, sequence } = event;
  const text = `${context.output.colour('green', kind)}  event ${id}, of ${objectId}`;
  context.output.result(text, { event: kind, id, object_id: objectId, sequence });
  return 0;
}

function createTriggerContext({ clock, random, environment }: CommandContext, input: CommandInput): TriggerContext {
  const { amount = amountDefault, endpoint } = input.options;
  const minor = parseHundredths(amount);
  if (minor === undefined || minor <= 0n) {
    throw new UsageError(
      `--amount is dalasi with at most two decimals, such as 450.50, not ${JSON.stringify(amount)}.`,
    );
  }
  const settings = readApiSettings(environment, input);
  if (!settings.testMode) {
    throw new UsageError(`The key of ${settings.keySource} is a live key. Only a test key can trigger events.`);
  }
  return {
    api: createApi(clock, settings),
    clock,
    amount: amountToJson(minor),
    newIdempotencyKey: () => `dalasi-trigger-${uuidV7(clock, random)}`,
    endpointId: endpoint,
  };
}

function waitForEvent({ api, clock }: TriggerContext, kind: EventKind, created: CreatedRecord): Promise<EventRow> {
  if ('eventId' in created) return waitFor(clock, kind, () => findEvent(api, created.eventId));
  return waitFor(clock, `${kind} of ${created.objectId}`, () => findEventOf(api, { kind, objectId: created.objectId }));
}

function listKinds({ output }: CommandContext): ExitCode {
  const rows = eventKinds.map((kind) => ({
    event: kind,
    how: recipes[kind].how,
    possible: !('cannot' in recipes[kind]),
  }));
  output.result(
    table(
      ['EVENT', 'HOW'],
      rows.map(({ event, how }) => [event, how]),
    ),
    rows,
  );
  return 0;
}
