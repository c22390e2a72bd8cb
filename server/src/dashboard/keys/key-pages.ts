import { AppError } from '../../api/app-error.ts';
import { maskedChanges } from '../../audit/masked-fields.ts';
import { html, type Html } from '../../kit/html.ts';
import { createApiKey, listKeys, rollApiKey, type ListedKey } from '../../merchants/manage-keys.ts';
import { cleanText } from '../../pages/page-text.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { audit } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, stateMark, twoLines } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { keyFields, keyValues, newKeyOf, overlapField, overlapMsOf } from '../../portal/records/key-form.ts';
import { isOn, keyState, keyText, namedKey, scopesText } from '../../portal/records/key-texts.ts';
import { writeNewKey, writeRevokedKey, type KeyWriter } from '../../portal/records/write-key.ts';
import { secretPage } from '../../portal/patterns/shown-once.ts';
import { listRoute } from '../patterns/list-page.ts';

/** Few: all are on one page, those that work first. */
const keyList = listRoute<ListedKey>({
  path: '/keys',
  action: 'keys.manage',
  title: 'API keys',
  noun: ['key', 'keys'],
  filters: [],
  async read({ money, merchant }) {
    const keys = (await listKeys(money.db, money.clock, merchant)).toReversed();
    const rows = [...keys.filter(isOn), ...keys.filter((key) => !isOn(key))];
    return { rows, total: rows.length, nextCursor: null };
  },
  columns: [
    {
      header: 'Name',
      isMain: true,
      cell: (key, { testMode }) => html`<span class="first"><bdi>${cleanText(key.name)}</bdi></span>
<span class="second"><code>${keyText(key, testMode)}</code></span>`,
    },
    { header: 'May', cell: ({ scopes }) => scopesText(scopes) },
    { header: 'Last used', cell: lastUse },
    { header: 'Ends', cell: ({ expiresAt }, { now }) => (expiresAt === null ? 'Never' : shownTime(expiresAt, now)) },
    {
      header: 'State',
      isMain: true,
      cell: (key) => twoLines(stateMark(keyState(key)), scopesText(key.scopes)),
    },
  ],
  href: ({ id }) => `/keys/${id}`,
  first: { href: '/keys/new', text: 'New key', needs: 'keys.manage' },
  empty: { text: 'No API keys yet. Your server signs in to the API with one.' },
});

function lastUse({ lastUse: use }: ListedKey, { now }: Visit): Html {
  if (use === null) return html`Never`;
  return html`<span class="first">${shownTime(use.usedAt, now)}</span> ${
    use.address !== null && html`<span class="second">from ${use.address}</span>`
  }`;
}

const path = '/keys';

async function findKey({ money, merchant }: Visit, id: string | undefined): Promise<ListedKey> {
  const key = (await listKeys(money.db, money.clock, merchant)).find((each) => each.id === id);
  if (!key) throw new AppError('not_found', 'There is no such API key in this environment.');
  return key;
}

const show: DashboardRoute = {
  path: `${path}/:id`,
  action: 'keys.manage',
  async handle(visit, { params }) {
    const key = await findKey(visit, params['id']);
    const { now, base, testMode } = visit;
    return {
      title: cleanText(key.name),
      body: html`${recordHead(visit, {
        heading: html`<bdi>${cleanText(key.name)}</bdi>`,
        state: keyState(key),
        actions: [
          isOn(key) &&
            key.rolledTo === null && { href: `${path}/${key.id}/roll`, text: 'Roll key', needs: 'keys.manage' },
          isOn(key) && { href: `${path}/${key.id}/revoke`, text: 'Revoke', needs: 'keys.manage', isDanger: true },
        ],
      })}
<section class="panel"><h2>Details</h2>${facts([
        ['Key', html`<code>${keyText(key, testMode)}</code>`],
        ['May', scopesText(key.scopes)],
        ['From', key.addresses === null ? 'Any address' : key.addresses.join(', ')],
        ['Last used', lastUse(key, visit)],
        ['Created', shownTime(key.createdAt, now)],
        ['Ends', key.expiresAt === null ? 'Never' : shownTime(key.expiresAt, now)],
        ['Revoked', key.revokedAt && shownTime(key.revokedAt, now)],
        ['Rolled to', key.rolledTo && html`<a href="${base}${path}/${key.rolledTo}">the key that replaced it</a>`],
        ['Requests', html`<a href="${base}/requests?key=${key.id}">What it sent</a>`],
        ['Key id', key.id],
      ])}</section>
<p class="hint">The key itself is not stored, only a hash of it: it was shown once, when it was created.</p>`,
    };
  },
};

const create = formRoutes<null>({
  ...{ path: `${path}/new`, action: 'keys.manage', load: async () => null },
  view: (_none, { testMode }) => ({
    heading: testMode ? 'New test key' : 'New live key',
    fields: keyFields,
    values: keyValues,
    button: 'Create the key',
    back: { href: path, text: 'Back to the keys' },
  }),
  async submit(visit, { body, formId }) {
    const key = { ...newKeyOf(body), id: formId };
    const { text } = await writeNewKey(writerOf(visit), 'keys.create', (tx) =>
      createApiKey(tx, visit.keys, visit.merchant, key),
    );
    return secretPage({
      title: visit.testMode ? 'Your new test key' : 'Your new live key',
      label: 'API key',
      secret: text,
      effect: html`<p>It works from now on. The owners of the business were notified by mail.</p>
${visit.testMode && html`<p>Try it:</p><pre class="json" tabindex="0" role="region" aria-label="A request with this key">curl ${visit.accounts.publicUrl()}/v1/payments?limit=1 -H 'Authorization: Bearer ${text}'</pre>`}`,
      next: { href: `${visit.base}${path}`, text: 'I have copied it' },
    });
  },
});

function writerOf(visit: Visit): KeyWriter {
  const { money, accounts, merchant, account } = visit;
  return {
    ...{ db: money.db, merchant, accounts, who: cleanText(account.name) },
    audit: (tx, { sent, ...act }) => audit(tx, visit, { ...act, changes: maskedChanges(sent) }),
  };
}

const roll = formRoutes<ListedKey>({
  ...{
    action: 'keys.manage',
    path: `${path}/:id/roll`,
    load: (visit, { params }) => findKey(visit, params['id']),
  },
  view: (key, { testMode }) => ({
    heading: 'Roll this key?',
    effect: html`${namedKey(key, testMode)}
<p>You get a new key with the same name and rights. Put it on your server while the old one still works.</p>`,
    fields: [overlapField],
    button: 'Roll key',
    back: { href: `${path}/${key.id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject, body }) {
    const rolled = { id: subject.id, overlapMs: overlapMsOf(body) };
    const { text, previous } = await writeNewKey(writerOf(visit), 'keys.roll', (tx) =>
      rollApiKey(tx, visit.keys, visit.merchant, rolled),
    );
    return secretPage({
      title: 'The key is rolled',
      label: 'New API key',
      secret: text,
      effect: html`<p>The old key ends: ${shownTime(previous.expiresAt, visit.now)}.</p>`,
      next: { href: `${visit.base}${path}`, text: 'I have copied it' },
    });
  },
});

const revoke = formRoutes<ListedKey>({
  ...{
    action: 'keys.manage',
    path: `${path}/:id/revoke`,
    load: (visit, { params }) => findKey(visit, params['id']),
  },
  view: (key, { testMode }) => ({
    heading: 'Revoke this key?',
    effect: html`${namedKey(key, testMode)}
<p>Within seconds every request with it is refused. It cannot be turned on again.</p>`,
    button: 'Revoke',
    isDanger: true,
    back: { href: `${path}/${key.id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject }) {
    await writeRevokedKey(writerOf(visit), visit.money.clock, subject.id);
    return path;
  },
});

// `new` comes before `:id`.
export const keyPages: readonly DashboardRoute[] = [keyList, ...create, show, ...roll, ...revoke];
