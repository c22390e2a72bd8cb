import { eventKinds } from '../../server/src/events/kinds.ts';
import { Choices } from './choices.ts';
import type { Dashboard, PressedForm } from './dashboard.ts';
import type { MerchantClient, MerchantResponse } from './merchant-client.ts';

type Body = Record<string, unknown>;
type Typed = Record<string, string>;

// One in so many requests goes by the program.
const programShare = 4;

/** The form that does what a request does: its page, and what is typed. */
type Form = (id: string, body: Body) => readonly [page: string, typed?: Typed];

const forms: Readonly<Record<string, Form>> = {
  'POST sub-accounts': (_id, body) => ['sub-accounts/new', texts(body)],
  'PUT sub-accounts :id': (id, body) => [
    `sub-accounts/${id}/${'account_number' in body ? 'destination' : 'edit'}`,
    texts(body),
  ],
  'DELETE sub-accounts :id': (id) => [`sub-accounts/${id}/delete`],
  'POST sub-accounts :id waive-debt': (id, body) => [`sub-accounts/${id}/waive`, texts(body)],
  'POST sub-account-groups': (_id, body) => ['groups/new', membersOf(body)],
  'PUT sub-account-groups :id': (id, body) => [`groups/${id}/edit`, membersOf(body)],
  'DELETE sub-account-groups :id': (id) => [`groups/${id}/delete`],
  'POST webhook-endpoints': (_id, body) => ['endpoints/new', { url: String(body['url']), ...kindsOf(body) }],
  'PUT webhook-endpoints :id': (id, body) =>
    'enabled_events' in body
      ? [`endpoints/${id}/edit`, kindsOf(body)]
      : [`endpoints/${id}/${body['status'] === 'enabled' ? 'resume' : 'pause'}`],
  'POST webhook-endpoints :id rotate-secret': (id, body) => [`endpoints/${id}/rotate`, texts(body)],
  'POST webhook-endpoints :id end-overlap': (id) => [`endpoints/${id}/end-overlap`],
  'POST webhook-endpoints :id test': (id) => [`endpoints/${id}/test`],
  'POST events resend': (_id, body) => [`endpoints/${String(body['endpoint_id'])}/resend`],
  'POST payments :id cancel': (id) => [`payments/${id}/cancel`],
  'POST transfers :id cancel': (id) => [`transfers/${id}/cancel`],
  'POST events :id resend': (id) => [`events/${id}/resend`],
};
/** Those that create a record, or a secret that is shown once: two who want one would have two of it. */
const creating: ReadonlySet<string> = new Set([
  ...(['POST sub-accounts', 'POST sub-account-groups', 'POST webhook-endpoints'] as const),
  'POST webhook-endpoints :id rotate-secret',
]);

export interface DeskOptions {
  dashboard: Dashboard;
  client: MerchantClient;
  /** `/dashboard/test/` and the merchant's short id. */
  base: string;
  seed: string;
}

/**
 * The client of a merchant whose people do at the dashboard what its program does otherwise, one of them or two at once; each request is
 * answered as by the API.
 */
export function atDesk({ dashboard, client, base, seed }: DeskOptions): MerchantClient {
  const choices = new Choices(`desk ${seed}`);
  const responseOf = async (
    route: string,
    list: string,
    pressed: readonly PressedForm[],
  ): Promise<MerchantResponse> => {
    const [text] = pressed.flatMap(({ location, shown }) => location ?? shown ?? []);
    const [, id] = /\/([0-9a-f-]{36})(?:$|")/.exec(text ?? '') ?? [];
    const [secret] = /\bwh_[A-Za-z0-9+/=]+/.exec(text ?? '') ?? [];
    if (secret !== undefined)
      return { status: route.endsWith('rotate-secret') ? 200 : 201, body: { id, secret }, text: '' };
    const { body } = await client.send('GET', `/v1/${list}/${id}`);
    return { status: 201, body, text: JSON.stringify(body) };
  };
  return {
    ...client,
    get key() {
      return client.key;
    },
    async send(method, path, body, idempotencyKey) {
      const { route, list, id } = readPath(method, path);
      const form = choices.below(programShare) > 0 ? forms[route]?.(id, body ?? {}) : undefined;
      const [page = '', typed = {}] = form ?? [];
      const isOfOne = creating.has(route);
      const pressed = form ? await dashboard.act({ path: `${base}/${page}`, typed, isOfOne }, choices) : [];
      const done = pressed.filter(({ location, shown }) => location !== null || shown !== null);
      // Where there is no form, or what it is about has changed meanwhile, the program does what can be done.
      if (done.length === 0) return client.send(method, path, body, idempotencyKey);
      return isOfOne ? responseOf(route, list, done) : { status: 200, body: {}, text: '' };
    },
  };
}

function readPath(method: string, path: string): { route: string; list: string; id: string } {
  const [, , list = '', second, third] = path.split('/');
  const isId = second !== undefined && second !== 'resend';
  const parts = [method, list, isId ? ':id' : second, third];
  return { route: parts.filter((part) => part !== undefined).join(' '), list, id: second ?? '' };
}

/** As people type it. */
function texts(body: Body): Typed {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, value === false ? '' : String(value)]));
}

function membersOf({ name, members }: Body): Typed {
  const rows = members as { sub_account: string; percentage: number }[];
  const typed = rows.flatMap(({ sub_account: sub, percentage }, index): [string, string][] => [
    [`members.${index}.sub_account`, sub],
    [`members.${index}.percentage`, String(percentage)],
  ]);
  return { ...(typeof name === 'string' && { name }), ...Object.fromEntries(typed) };
}

/** Every other kind is unticked. */
function kindsOf({ enabled_events: enabled }: Body): Typed {
  const ticked = new Set(enabled as string[]);
  const all = ['*', ...eventKinds].map((kind) => [`enabled_events.${kind}`, ticked.has(kind) ? 'true' : '']);
  return Object.fromEntries(all) as Typed;
}
