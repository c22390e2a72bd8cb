import { UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';
import { isUuid } from '../../server/src/kit/ids.ts';
import { createApi, type Api } from '../api/client.ts';
import { apiOptionDetails, apiOptions, readApiSettings } from '../api/settings.ts';
import { CommandFailure, describeOptions, type Command, type CommandContext, type ExitCode } from '../command.ts';
import { findEvent, findEventsOf, pageRowsMax } from './event-row.ts';
import { eventPage, readResponse, type EventRow } from '../api/responses.ts';
import { eventLine, eventText } from './event-text.ts';
import { followEvents, outageReporter } from './follow-events.ts';
import { readKinds } from './read-kinds.ts';
import { resendCommand } from './resend-command.ts';

const linesDefault = 10;

/** The event log and its deliveries. */
export const eventCommands: readonly Command[] = [
  {
    name: 'events tail',
    usage: '[--event <kind>]... [--limit <n>] [--follow]',
    summary: 'Show the latest events; with --follow, new ones too',
    details: describeOptions([
      ['--event KIND', 'only this kind; repeat for more kinds'],
      ['--limit N', `number of events, at most ${pageRowsMax}; default: ${linesDefault}`],
      ['--follow', 'also show new events, until Ctrl-C'],
      ...apiOptionDetails,
    ]),
    moreOptions: apiOptions,
    run: tail,
  },
  {
    name: 'events show',
    usage: '<id>',
    summary: 'Show an event with every attempt and its response',
    details: describeOptions(apiOptionDetails),
    moreOptions: apiOptions,
    async run(context, input) {
      const api = createApi(context.clock, readApiSettings(context.environment, input));
      const [id = ''] = input.positionals;
      const event = await findEvent(api, id);
      if (!event) throw new CommandFailure(await describeMissing(context, api, id));
      context.output.result(eventText(context.output, event), event);
      return 0;
    },
  },
  resendCommand,
];

/** Why there is no event with this id. For the id of a record it lists the events of that record. */
async function describeMissing({ output }: CommandContext, api: Api, id: string): Promise<string> {
  const rows = isUuid(id) ? await findEventsOf(api, id) : [];
  if (rows.length === 0) return `There is no event ${JSON.stringify(id)} for this key.`;
  const lines = rows.map((row) => `  ${eventLine(output, row)}`);
  return [`${id} is a record, not an event. Its newest events are:`, ...lines].join('\n');
}

async function tail(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { clock, output } = context;
  const kinds = readKinds(input.lists['event']);
  const limit = readLimit(input.options['limit'] ?? String(linesDefault));
  const settings = readApiSettings(context.environment, input);
  const shown = new Set<string>();
  const show = (row: EventRow): void => {
    if (!shown.has(row.id)) output.item(eventLine(output, row), row);
  };
  const showLatest = async (): Promise<void> => {
    for (const row of await readLatest(createApi(clock, settings), kinds, limit)) {
      show(row);
      shown.add(row.id);
    }
  };
  if (!input.flags.has('follow')) {
    await showLatest();
    return 0;
  }
  const signal = context.interruption();
  const events = followEvents({
    api: createApi(clock, settings, signal),
    clock,
    signal,
    kinds,
    since: 'now',
    // Only now: earlier, an event between the latest and the first new one would be missed.
    onReady: showLatest,
    ...outageReporter(output, settings),
  });
  for await (const { row } of events) show(row);
  return 0;
}

/** The oldest first, as a log is read. The API filters by one kind at a time. */
async function readLatest(api: Api, kinds: readonly string[], limit: number): Promise<EventRow[]> {
  const eventFilters = kinds.length === 0 ? [undefined] : kinds;
  const lists = await Promise.all(
    eventFilters.map(
      async (event) => readResponse(eventPage, (await api.get('/v1/events', { event, limit })).body).data,
    ),
  );
  const newestFirst = lists.flat().toSorted((one, another) => (one.id < another.id ? 1 : -1));
  return newestFirst.slice(0, limit).toReversed();
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= pageRowsMax) return limit;
  throw new UsageError(`--limit is a number from 1 to ${pageRowsMax}, not ${JSON.stringify(text)}.`);
}
