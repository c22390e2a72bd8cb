import { UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';
import { readTimeOption, timeForms } from '../../server/src/kit/time-option.ts';
import { eventRow, readResponse, resendResult } from '../api/responses.ts';
import { ApiError, createApi, type Api, type JsonObject } from '../api/client.ts';
import { apiOptionDetails, apiOptions, readApiSettings } from '../api/settings.ts';
import { CommandFailure, describeOptions, type Command, type CommandContext, type ExitCode } from '../command.ts';
import { eventText } from './event-text.ts';
import { readKinds } from './read-kinds.ts';

/** Resends one event by its id, or many of one endpoint. Many are counted first, and sent only once confirmed. */
export const resendCommand: Command = {
  name: 'events resend',
  usage: '[<id>] [--endpoint <id>] [--event <kind>]... [--from <time>] [--to <time>] [--all] [--dry-run] [--yes]',
  summary: 'Resend one event, or all that an endpoint has missed',
  details: `  dalasi events resend ID                one event, to every endpoint that
                                         subscribes to it and to the callback URL
  dalasi events resend ID --endpoint ID  one event, to one endpoint
  dalasi events resend --endpoint ID     all that failed or waits for an endpoint

${describeOptions([
  ['--event KIND', 'only this kind; repeat for more kinds'],
  ['--from, --to TIME', `only events of this time: ${timeForms}`],
  ['--all', 'also events that were delivered or never sent to the endpoint'],
  ['--dry-run', 'only count the events'],
  ['--yes', 'do not ask for confirmation; required without a terminal'],
  ...apiOptionDetails,
])}`,
  moreOptions: apiOptions,
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
      'With the id of an event, only --endpoint is allowed: the other options select among the events of an endpoint.',
    );
  }
  const api = createApi(context.clock, readApiSettings(context.environment, input));
  const body = options['endpoint'] === undefined ? {} : { endpoint_id: options['endpoint'] };
  const event = await inOptionNames(api.post(`/v1/events/${encodeURIComponent(id)}/resend`, body));
  context.output.result(eventText(context.output, readResponse(eventRow, event)), event);
  return 0;
}

/** An error of the API names a field; the command line has an option in its place. */
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
  const description = sent === 1 ? 'event is queued for delivery' : 'events are queued for delivery';
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

/** One call resends a batch; the next call continues where it ended. */
async function resendAll(api: Api, selection: JsonObject): Promise<number> {
  let sent = 0;
  for (let from: string | undefined; ;) {
    const response = await api
      .post('/v1/events/resend', { ...selection, ...(from === undefined ? {} : { from }) })
      .catch((error: unknown) => {
        if (from === undefined || !(error instanceof CommandFailure)) throw error;
        const many = sent === 1 ? '1 event is queued' : `${sent} events are queued`;
        throw new CommandFailure(
          `${error.message}\nBefore that ${many}. The rest: the same command with --from ${from}`,
        );
      });
    const { resent: resentCount, continue_from: next } = readResponse(resendResult, response);
    sent += resentCount;
    if (next === null) return sent;
    // A server that makes no progress would be called for ever.
    if (from !== undefined && next <= from) {
      throw new CommandFailure(`The service makes no progress beyond ${next}. ${sent} events were resent.`);
    }
    from = next;
  }
}

function readSelection({ clock }: CommandContext, { options, lists, flags }: CommandInput) {
  const endpoint = options['endpoint'];
  if (endpoint === undefined) {
    throw new UsageError('Give an event (dalasi events resend ID) or an endpoint (--endpoint ID).');
  }
  const kinds = readKinds(lists['event']);
  const [from, to] = (['from', 'to'] as const).map((option) => {
    const text = options[option];
    const ofDay = option === 'from' ? 'first' : 'last';
    return text === undefined ? undefined : readTimeOption(clock, { option, text, ofDay });
  });
  if (from && to && from > to) throw new UsageError('--to is before --from.');
  return {
    endpoint_id: endpoint,
    ...(kinds.length === 0 ? {} : { event: kinds }),
    ...(from && { from: from.toISOString() }),
    ...(to && { to: to.toISOString() }),
    status: flags.has('all') ? 'all' : 'undelivered',
  };
}
