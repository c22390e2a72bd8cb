import { AppError } from '../../api/app-error.ts';
import { listKeyUses, type StoredKeyUse } from '../../http/list-key-uses.ts';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { listKeys, type ListedKey } from '../../merchants/manage-keys.ts';
import { listAttempts } from '../../payments/find-payment.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { LoggedRequest } from '../../request-log/logged-request.ts';
import { getRequest, listRequests, type ListedRequest } from '../../request-log/read-requests.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { keyText } from '../../portal/records/key-texts.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import { listRoute } from '../patterns/list-page.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, stateMark, timeInSentence, type StateMark } from '../../portal/patterns/texts.ts';
import { createdRange, dateFilters } from '../../portal/patterns/time-filter.ts';
import type { Visit } from '../visit.ts';
import { prettyJson } from './pretty-json.ts';

interface RequestRow extends ListedRequest {
  keyName: string;
}

const statuses = [
  { value: 'successful', text: 'Successful' },
  { value: 'refused', text: 'Refused (4xx)' },
  { value: 'failed', text: 'Failed (5xx)' },
] as const;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** A field that was left empty is no filter. */
const filled = (text: string | undefined) => (text === undefined || text.trim() === '' ? undefined : text.trim());

const list = listRoute<RequestRow>({
  path: '/requests',
  action: 'requests.read',
  title: 'Requests',
  noun: ['request', 'requests'],
  filters: [
    { kind: 'search', name: 'term', label: 'Request id or idempotency key' },
    ...dateFilters,
    { kind: 'select', name: 'status', label: 'Status', options: statuses },
    { kind: 'select', name: 'method', label: 'Method', options: methods.map((value) => ({ value, text: value })) },
    { kind: 'text', name: 'path', label: 'Path contains' },
    { kind: 'given', name: 'key', label: 'Only of one key' },
    { kind: 'given', name: 'record', label: 'Only of one record' },
  ],
  async read({ money, merchant, testMode }, query) {
    const idOf = (name: 'key' | 'record') => (isUuid(query[name] ?? '') ? query[name] : undefined);
    const page = pageOf(query);
    const found = await listRequests(money.lists, merchant.id, page, {
      term: filled(query['term']),
      path: filled(query['path'])?.toLowerCase(),
      method: methods.find((each) => each === query['method']),
      status: statuses.find(({ value }) => value === query['status'])?.value,
      keyId: idOf('key'),
      objectIds: await objectIdsOf(money, merchant.id, idOf('record')),
      ...createdRange(query),
    });
    const keys = await listKeys(money.db, money.clock, merchant);
    const rows = found.rows.map((row) => ({ ...row, keyName: nameOf(keys, row, testMode) }));
    return shownRows(found, rows);
  },
  columns: [
    {
      header: 'Request, idempotency key',
      isMain: true,
      cell: (
        { method, path, createdAt, idempotencyKey },
        { now },
      ) => html`<span class="first"><code>${method} ${path}</code></span>
${idempotencyKey !== null && html`<span class="second">${foreignText(idempotencyKey)}</span>`}
<span class="second phone">${shownTime(createdAt, now)}</span>`,
    },
    { header: 'Time', cell: ({ createdAt }, { now }) => shownTime(createdAt, now) },
    { header: 'API key', cell: ({ keyName }) => foreignText(keyName) },
    { header: 'Request id', cell: ({ requestId }) => html`<code>${requestId}</code>` },
    { header: 'Took', isNumber: true, cell: ({ durationMs }) => `${Math.round(durationMs)} ms` },
    { header: 'Status', isMain: true, cell: (row) => stateMark(statusMark(row)) },
  ],
  href: ({ id }) => `/requests/${id}`,
  empty: { text: 'No requests. Your server’s calls to the API show here within seconds.' },
  buttons: [{ href: '/requests/keys', text: 'Look up an idempotency key', needs: 'requests.read' }],
});

/** A payment is named by its attempts too, which the API calls transactions. */
async function objectIdsOf({ db }: Visit['money'], merchantId: string, id: string | undefined) {
  return id === undefined ? undefined : [id, ...(await listAttempts(db, merchantId, id)).map((attempt) => attempt.id)];
}

function nameOf(keys: readonly ListedKey[], { keyId }: { keyId: string }, testMode: boolean): string {
  const key = keys.find(({ id }) => id === keyId);
  return key ? `${key.name} ${keyText(key, testMode)}` : keyId;
}

function statusMark({ statusCode }: Pick<ListedRequest, 'statusCode'>): StateMark {
  if (statusCode >= 500) return { tone: 'bad', icon: 'warning', text: String(statusCode) };
  if (statusCode >= 400) return { tone: 'calm', icon: 'cross', text: String(statusCode) };
  return { tone: 'good', icon: 'check', text: String(statusCode) };
}

const show: DashboardRoute = {
  path: '/requests/:id',
  action: 'requests.read',
  async handle(visit, { params }) {
    const { money } = visit;
    const request = await getRequest(money.db, visit.merchant.id, params['id'] ?? '');
    const keys = await listKeys(money.db, money.clock, visit.merchant);
    return { title: `${request.method} ${request.path}`, body: requestBody(visit, request, keys) };
  },
};

function requestBody(visit: Visit, request: LoggedRequest, keys: readonly ListedKey[]): Html {
  const { now, base, testMode, may } = visit;
  const { requestId, idempotencyKey, errorCode, query, keyId } = request;
  const keyName = nameOf(keys, request, testMode);
  return html`${recordHead(visit, {
    heading: html`<code>${request.method} ${request.path}</code>`,
    state: statusMark(request),
    actions: [],
  })}
<section class="panel"><h2>Details</h2>${facts([
    ['Time', shownTime(request.createdAt, now)],
    ['Request id', html`<code>${requestId}</code>`],
    ['Took', `${request.durationMs} ms`],
    ['Query', query && html`<code>${query}</code>`],
    ['Error', errorCode && html`<a href="/errors/${errorCode}">${errorCode}</a>`],
    [
      'Key',
      may('keys.manage').isAllowed
        ? html`<a href="${base}/keys/${keyId}">${foreignText(keyName)}</a>`
        : foreignText(keyName),
    ],
    [
      'Idempotency key',
      idempotencyKey &&
        html`<a href="${base}/requests/keys?key=${encodeURIComponent(idempotencyKey)}">${foreignText(idempotencyKey)}</a>`,
    ],
    ['Record', recordLink(visit, request)],
  ])}</section>
<div class="columns">${bodyPanel('Request', request.requestBody)}${bodyPanel('Response', request.responseBody)}</div>
<p class="hint">Secrets are hidden, numbers show their last four digits, and long bodies are cut. Bodies are kept for 30 days, those of successful GET requests not at all.</p>`;
}

function bodyPanel(title: string, text: string | null): Html {
  return html`<section class="panel"><h2>${title}</h2>${text === null ? html`<p class="count">No body was kept.</p>` : prettyJson(text, title)}</section>`;
}

/** By its id, as the search opens it: whichever kind it is. */
function recordLink({ base }: Visit, { pathObjectId, responseObjectId }: LoggedRequest): Html | null {
  const id = pathObjectId ?? responseObjectId;
  return id === null ? null : html`<a href="${base}/search?q=${id}">${id}</a>`;
}

const lookUp: DashboardRoute = {
  path: '/requests/keys',
  action: 'requests.read',
  async handle(visit, { query }) {
    const key = query['key'] ?? '';
    const found = key === '' ? null : await findUses(visit, key);
    return {
      title: 'Look up an idempotency key',
      body: html`<header class="head"><h1>Look up an idempotency key</h1></header>
<form method="get" class="filters" role="search"><div class="field search"><label for="key">Idempotency key, in full</label>
<input id="key" name="key" type="search" value="${key}" maxlength="255"></div><button class="button small plain">Look up</button></form>
${found && keyUses(visit, found)}
<p class="hint">A key belongs to the path that it was sent to. Its response is stored for 72 hours and returned again for the same request.</p>`,
    };
  },
};

async function findUses({ money, describeApi, merchant }: Visit, key: string) {
  const page = { limit: 100, offset: 0, before: null };
  const { rows } = await listRequests(money.lists, merchant.id, page, { term: key });
  const requests = rows.filter(({ idempotencyKey }) => idempotencyKey === key);
  // Those of the log, and for what it lacks those that create records.
  const creating = Object.entries((await describeApi()).paths).filter(([, operations]) => 'post' in operations);
  const paths = new Set([...requests.map(({ path }) => path), ...creating.map(([path]) => path)]);
  const uses = await listKeyUses(money.db, merchant.id, { key, paths: [...paths] });
  return { requests, uses };
}

function keyUses({ base, now }: Visit, { requests, uses }: { requests: ListedRequest[]; uses: StoredKeyUse[] }): Html {
  if (requests.length === 0 && uses.length === 0) {
    return html`<section class="empty"><p>This key was not used in this environment, or longer ago than we keep it.</p></section>`;
  }
  return html`<section class="panel"><h2>Where it counts</h2>${
    uses.length === 0
      ? html`<p>Nowhere any more: its stored responses have ended, so the key can be used again.</p>`
      : facts(
          uses.map(({ path, statusCode, createdAt }) => [
            html`<code>${path}</code>`,
            html`${statusCode === null ? 'Response no longer stored' : `Stored response ${statusCode}`}, ${timeInSentence(createdAt, now)}`,
          ]),
        )
  }</section>
<section class="panel"><h2>Requests with it</h2><ul class="links">${requests.map(
    (request) =>
      html`<li><a href="${base}/requests/${request.id}"><span>${shownTime(request.createdAt, now)} <code>${request.method} ${request.path}</code> ${stateMark(statusMark(request))}</span></a></li>`,
  )}</ul>${requests.length === 0 && html`<p class="count">None in the log.</p>`}</section>`;
}

/** For a link from a page that knows the request id only. */
const byRequestId: DashboardRoute = {
  path: '/requests/by-id/:id',
  action: 'requests.read',
  async handle({ money, merchant }, { params }) {
    const page = { limit: 1, offset: 0, before: null };
    const { rows } = await listRequests(money.lists, merchant.id, page, { term: params['id'] });
    const [found] = rows;
    if (found) return { redirect: `/requests/${found.id}` };
    throw new AppError(
      'not_found',
      'This request is not in the log: it changed nothing and is older than 30 days, or it is a payer’s.',
    );
  },
};

export const requestPages: readonly DashboardRoute[] = [list, lookUp, byRequestId, show];
