import { UsageError } from '../../server/src/kit/command-line.ts';
import type { CommandInput } from '../../server/src/kit/command-line.ts';
import { readTimeOption, timeForms } from '../../server/src/kit/time-option.ts';
import { eventRow, readResponse, resendResult } from '../api/responses.ts';
import { ApiError, createApi } from '../api/client.ts';
import type { Api, JsonObject } from '../api/client.ts';
import { apiDetails, apiOptions, readApiSettings } from '../api/settings.ts';
import { CommandFailure } from '../command.ts';
import type { Command, CommandContext, ExitCode } from '../command.ts';
import { eventText } from './event-text.ts';
import { readKinds } from './read-kinds.ts';

/** One event by its id, or many of one endpoint. Many are counted first, and sent only after a yes. */
export const resendCommand: Command = {
  name: 'events resend',
  usage: '[<id>] [--endpoint <id>] [--event <kind>]... [--from <time>] [--to <time>] [--all] [--dry-run] [--yes]',
  summary: 'Send one event again, or all that an endpoint has missed',
  details: `  dalasi events resend ID                   one event, to every endpoint that wants it and the callback address
  dalasi events resend ID --endpoint ID     the same, to one endpoint
  dalasi events resend --endpoint ID        what failed or was kept for this endpoint
    --event KIND   only this kind; as often as you like
    --from, --to   only what happened then: ${timeForms}
    --all          also what has arrived, or was never sent there
    --dry-run      count only
    --yes          do not ask; needed where nobody can be asked
${apiDetails}`,
  options: {
    endpoint: { type: 'string', required: false },
    from: { type: 'string', required: false },
    to: { type: 'string', required: false },
    ...apiOptions,
  },
  lists: ['event'],
  flags: ['all', 'dry-run', 'yes'],
  positionals: 1,
  positionalsMin: 0,
  async run(context, input) {
    const [id] = input.positionals;
    return id === undefined ? resendMany(context, input) : resendOne(context, input, id);
  },
};

async function resendOne(context: CommandContext, input: CommandInput, id: string): Promise<ExitCode> {
  const { options, flags, lists } = input;
  const isNarrowed = options['from'] ?? options['to'] ?? lists['event']?.[0];
  if (isNarrowed !== undefined || flags.has('all') || flags.has('dry-run')) {
    throw new UsageError(
      'With an event’s id only --endpoint can be given: the other options choose among many events.',
    );
  }
  const api = createApi(context.clock, readApiSettings(context.environment, input));
  const body = options['endpoint'] === undefined ? {} : { endpoint_id: options['endpoint'] };
  const event = await inOptionNames(api.post(`/v1/events/${encodeURIComponent(id)}/resend`, body));
  context.output.result(eventText(context.output, readResponse(eventRow, event)), event);
  return 0;
}

/** A refusal names the API's field; whoever typed the command knows its option. */
async function inOptionNames<Response>(response: Promise<Response>): Promise<Response> {
  return response.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.status, error.code, error.message.replaceAll('endpoint_id', '--endpoint'));
  });
}

async function resendMany(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { output } = context;
  const selection = readSelection(context, input);
  const api = createApi(context.clock, readApiSettings(context.environment, input));
  const response = await inOptionNames(api.post('/v1/events/resend', { ...selection, dry_run: true }));
  const { matched, continue_from: continueFrom } = readResponse(resendResult, response);
  const isMore = continueFrom !== null;
  const count = `${isMore ? 'more than ' : ''}${matched} ${matched === 1 && !isMore ? 'event' : 'events'}`;
  if (input.flags.has('dry-run') || matched === 0) {
    output.result(`${count} would be sent again to endpoint ${selection.endpoint_id}.`, response);
    return 0;
  }
  if (!input.flags.has('yes') && !(await confirmResend(context, `${count} to endpoint ${selection.endpoint_id}`))) {
    output.note('Nothing was sent.');
    return 1;
  }
  const sent = await resendAll(api, selection);
  const description = sent === 1 ? 'event is on its way' : 'events are on their way';
  output.result(`${sent} ${description} to endpoint ${selection.endpoint_id}.`, {
    dry_run: false,
    endpoint_id: selection.endpoint_id,
    resent: sent,
  });
  return 0;
}

async function confirmResend({ terminal }: CommandContext, description: string): Promise<boolean> {
  if (terminal.isInteractive) return terminal.confirm(`Send ${description} again?`);
  throw new UsageError(
    `This would send ${description} again. Add --yes if that is what you want, or --dry-run to count only.`,
  );
}

/** One call takes a part; each begins where the one before ended. */
async function resendAll(api: Api, selection: JsonObject): Promise<number> {
  let sent = 0;
  for (let from: string | undefined; ;) {
    const response = await api.post('/v1/events/resend', { ...selection, ...(from === undefined ? {} : { from }) });
    const { resent: resentCount, continue_from: next } = readResponse(resendResult, response);
    sent += resentCount;
    if (next === null) return sent;
    // A server that goes back or stands still would be asked for ever.
    if (from !== undefined && next <= from) {
      throw new CommandFailure(`The service does not get beyond ${next}. ${sent} were sent again.`);
    }
    from = next;
  }
}

function readSelection({ clock }: CommandContext, { options, lists, flags }: CommandInput) {
  const endpoint = options['endpoint'];
  if (endpoint === undefined) {
    throw new UsageError('Say which event (dalasi events resend ID), or which endpoint’s events: --endpoint ID.');
  }
  const kinds = readKinds(lists['event']);
  const [from, to] = (['from', 'to'] as const).map((option) => {
    const text = options[option];
    const ofDay = option === 'from' ? 'first' : 'last';
    return text === undefined ? undefined : readTimeOption(clock, { option, text, ofDay }).toISOString();
  });
  return {
    endpoint_id: endpoint,
    ...(kinds.length === 0 ? {} : { event: kinds }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    status: flags.has('all') ? 'all' : 'undelivered',
  };
}
