import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openOwnPage, type OwnPage } from '../harness/browser.ts';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from '../harness/console-world.ts';
import type { Member } from '../harness/dashboard-world.ts';
import { assertSafeCsv } from '../harness/guarded-response.ts';
import {
  fillTextColumns,
  formulaStarts,
  hostileClient,
  hostileText,
  markup,
  sendHostileBodies,
} from '../harness/hostile-texts.ts';
import { loadContract } from '../harness/openapi.ts';
import { homes, ownRoutes } from '../harness/own-routes.ts';
import { merchantsPages, operatorsPages } from '../harness/portal-pages.ts';
import { createPortalRecords, type PortalRecords } from '../harness/portal-records.ts';
import { merchantsRoutes, operatorsRoutes, pathWith, type PortalRoute } from '../harness/portal-routes.ts';
import { asOwner } from '../harness/tables.ts';

// Texts that are markup and formulas, in every field that people, merchants' servers and networks write.

let world: ConsoleWorld;
let owner: Member;
let admin: SignedInOperator;
let records: PortalRecords;
let columns: string[];
const opened = new Map<PortalRoute['realm'], OwnPage>();
/** The fields whose texts stood on a page. */
const seen = new Set<string>();

before(async () => {
  world = await openConsoleWorld();
  const { dashboard } = world;
  const { service, business } = dashboard;
  owner = await dashboard.signIn('owner');
  const { operations } = await loadContract();
  records = await createPortalRecords(dashboard, business, owner, {}, (api) => hostileClient(api, operations));
  await sendHostileBodies(dashboard.api, operations, records);
  await service.app.drain();
  admin = await world.signInOperator('admin');
  records.operatorId = (await world.signInOperator('support')).operatorId;
  columns = await fillTextColumns(service);
  const size = { width: 1280, height: 800 };
  opened.set('merchant', withoutDialogs(await openOwnPage({ visitor: owner, ...size })));
  opened.set('operator', withoutDialogs(await openOwnPage({ visitor: admin, ...size })));
});
after(async () => {
  for (const { context } of opened.values()) await context.close();
  await world?.stop();
});

function addressOf(route: PortalRoute): string {
  const path = pathWith(route, records, 'test');
  if (route.realm === 'merchant') return world.dashboard.at(path);
  return `${world.dashboard.service.url}/operator${route.isOfEnvironment ? '/test' : ''}${path}`;
}

/** In the page: what of a text has become markup, would run, or leads to a script; and whose texts it shows. */
const examine = `(() => {
  const made = [...document.querySelectorAll('[${markup}], img[src="/x"]')].map((element) => element.outerHTML.slice(0, 200));
  const links = [...document.querySelectorAll('a[href], [src], form[action], [formaction]')].map((element) =>
    element.formAction || element.action || element.href || element.src || '');
  const fields = [...document.querySelectorAll('input, textarea')].map(({ value }) => value);
  const attributes = [...document.querySelectorAll('[title], [alt], [aria-label]')].map((element) => element.outerHTML);
  return {
    faults: [
      ...made,
      ...links.filter((link) => /^(?:javascript|data|vbscript):/i.test(link) && !/^data:image\\//.test(link)),
      ...(window.isRun === undefined ? [] : ['a script ran']),
    ],
    text: [document.title, document.body.textContent, ...fields, ...attributes].join(' '),
  };
})()`;

function withoutDialogs(window: OwnPage): OwnPage {
  window.page.on('dialog', () => window.pageErrors.push('a dialog opened'));
  return window;
}

async function assertSafe({ page, pageErrors }: OwnPage, what: string): Promise<void> {
  const { faults, text } = await page.evaluate<{ faults: string[]; text: string }>(examine);
  for (const [, where = ''] of text.matchAll(new RegExp(`${markup}=["“]([\\w.]+)`, 'g'))) seen.add(where);
  // The status of a form that was refused.
  const errors = pageErrors.splice(0).filter((error) => !/responded with a status of 4\d\d/.test(error));
  assert.deepEqual([...faults, ...errors], [], `${what} ${page.url()}`);
}

/** Every form of the page that takes text, sent with it: in all of its fields, and in those only that may hold any text. */
async function sendForms(window: OwnPage, url: string): Promise<number> {
  const { page } = window;
  await page.goto(url);
  await assertSafe(window, 'the page');
  const count = await page.evaluate<number>(`document.forms.length`);
  let sent = 0;
  for (let index = 0; index < count; index += 1) {
    for (const fields of ['input, textarea', 'input[type=text]:not([inputmode]), textarea']) {
      await page.goto(url);
      const isFilled = await page.evaluate<boolean>(`(() => {
        const form = document.forms[${index}];
        const isText = ({ type }) => /^(?:text|textarea|search|email|tel|url|date|password)$/.test(type);
        const fields = form ? [...form.querySelectorAll(${JSON.stringify(fields)})].filter(isText) : [];
        for (const field of fields) {
          if (field.tagName === 'INPUT') field.type = 'text';
          field.value = ${JSON.stringify(hostileText('form.FIELD'))}.replace('FIELD', field.name.replaceAll(/\\W/g, '_'));
        }
        if (fields.length > 0) form.noValidate = true;
        return fields.length > 0;
      })()`);
      if (!isFilled) break;
      window.pageErrors.length = 0;
      await Promise.all([page.waitForEvent('load'), page.evaluate(`document.forms[${index}].submit()`)]);
      await assertSafe(window, `form ${index} of ${url}, then`);
      sent += 1;
    }
  }
  return sent;
}

for (const { name, route, address } of [...merchantsPages, ...operatorsPages]) {
  test(`${name}: no text becomes markup`, async () => {
    const window = opened.get(route.realm);
    assert.ok(window);
    const url = address?.(addressOf(route), records) ?? addressOf(route);
    const response = await window.page.goto(url);
    assert.equal(response?.status(), 200, await window.page.evaluate<string>('document.body.textContent'));
    await assertSafe(window, name);
  });
}

/** What payers, staff and the simulated mailbox see, by the addresses that the API and the pages give. */
async function payersAddresses(): Promise<string[]> {
  const { service, api } = world.dashboard;
  const { body } = await api.get('/v1/payments?limit=100');
  const payments = (body['data'] as { payment_link: string }[]).map(({ payment_link: link }) => link);
  const { body: link } = await api.get(`/v1/payment-links/${records.paymentLinkId}`);
  const { body: terminal } = await api.get(`/v1/virtual-terminals/${records.terminalId}`);
  const pages = ['mail', 'chat', 'chat/7012345', 'phone', 'phone/7000004'].map(
    (page) => `${service.url}/simulator/${page}`,
  );
  assert.ok(payments.length >= 4);
  return [...payments, String(link['url']), String(terminal['qr_code_url']), ...pages];
}

test('payers’ pages, chat, phone and mails: no text becomes markup, typed or stored', async () => {
  await using window = withoutDialogs(await openOwnPage());
  for (const url of await payersAddresses()) {
    assert.equal((await fetch(url)).status, 200, url);
    await sendForms(window, url);
  }
});

test('forms behind a sign-in: what is typed comes back as text, refused or not', async (context) => {
  let sent = 0;
  for (const [realm, window] of opened) {
    const own = ownRoutes
      .filter(({ method, path, ...route }) => method === 'GET' && route.realm === realm && !path.includes(':'))
      .map(({ path }) => `${world.dashboard.service.url}${homes[realm]}${path}`);
    const pages = (realm === 'merchant' ? merchantsPages : operatorsPages).filter(
      ({ address, act }) => !address && !act,
    );
    for (const url of [...pages.map(({ route }) => addressOf(route)), ...own]) sent += await sendForms(window, url);
  }
  context.diagnostic(`${sent} forms sent`);
  assert.ok(sent > 100);
});

test('files for spreadsheets: no cell begins a formula, whichever sign a text begins with', async () => {
  const files = [...merchantsRoutes, ...operatorsRoutes].filter(
    ({ method, path }) => method === 'GET' && /\/file$|\.csv$/.test(path),
  );
  for (const start of formulaStarts) {
    await fillTextColumns(world.dashboard.service, start);
    for (const route of files.filter(({ path }) => !path.includes('/poster/'))) {
      const response = await (route.realm === 'merchant' ? owner : admin).get(addressOf(route));
      assert.equal(response.status, 200, route.path);
      assert.match(response.headers.get('content-type') ?? '', /^text\/csv/, route.path);
      assertSafeCsv(await response.text(), `${route.path} ${JSON.stringify(start)}`);
    }
  }
  const poster = await owner.get(world.dashboard.at(`/counters/${records.terminalId}/poster/file?format=svg`));
  assert.match(poster.headers.get('content-type') ?? '', /svg/);
  assert.doesNotMatch(await poster.text(), new RegExp(`${markup}|<script|onerror`));
});

/** Of a table, the newest records of the business: those in other states than the one that has a page above. */
const recordsElsewhere = [
  { table: 'payment_intents', page: '/payments/:id', record: true },
  { table: 'transfers', page: '/transfers/:id', record: true },
  { table: 'charges', page: null, record: true },
  { table: 'refunds', page: '/refunds/:id', record: true },
  { table: 'webhook_deliveries', id: 'event_id', page: '/events/:id', record: false },
] as const;

test('records in every state, and what receivers of events responded: no text becomes markup', async () => {
  const { service, business, at } = world.dashboard;
  for (const { table, page: path, record, ...named } of recordsElsewhere) {
    const column = 'id' in named ? named.id : 'id';
    const text = `SELECT DISTINCT ${column} AS id FROM ${table} WHERE merchant_id = $1 ORDER BY 1 DESC LIMIT 12`;
    const rows = await asOwner<{ id: string }>(service, text, [business.test.merchant.id]);
    assert.ok(rows.length > 0, table);
    for (const { id } of rows) {
      const urls = {
        merchant: path && at(path.replace(':id', id)),
        operator: record && `${service.url}/operator/test/records/${id}`,
      };
      for (const [realm, window] of opened) {
        const url = urls[realm];
        if (!url) continue;
        const status = (await window.page.goto(url))?.status();
        // The payout of a refund has the refund's page.
        assert.ok(status === 200 || (status === 404 && table === 'transfers'), `${status} ${url}`);
        await assertSafe(window, table);
      }
    }
  }
});

test('the texts of sixty stored fields, and those of each form, were seen on these pages', (context) => {
  const stored = columns.filter((column) => seen.has(column));
  context.diagnostic(
    `${stored.length} stored fields of ${columns.length} and ${seen.size - stored.length} others were shown`,
  );
  assert.ok(stored.length >= 60, stored.join(' '));
});
