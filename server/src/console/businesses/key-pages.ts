import { AppError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import { createApiKey, listKeys, rollApiKey, type ListedKey } from '../../merchants/manage-keys.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { secretPage } from '../../portal/patterns/shown-once.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { keyFields, keyValues, newKeyOf, overlapField, overlapMsOf } from '../../portal/records/key-form.ts';
import { isOn, keyState, keyText, namedKey, scopesText } from '../../portal/records/key-texts.ts';
import { writeNewKey, writeRevokedKey, type KeyWriter } from '../../portal/records/write-key.ts';
import { audit } from '../audit/record.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { findBusiness, loadMerchant, type MerchantOfBusiness } from './business.ts';

const path = '/businesses/:id/keys';

interface KeyOfMerchant extends MerchantOfBusiness {
  key: ListedKey;
}

const list: ConsoleRoute = {
  path,
  action: 'records.read',
  async handle(visit, input) {
    const business = await findBusiness(visit, input);
    const head = `/businesses/${business.id}`;
    const body = html`${recordHead(visit, {
      heading: html`API keys of ${foreignText(business.name)}`,
      state: null,
      under: html`<p><a href="${visit.base}${head}">Back to the business</a></p>`,
      actions: [
        { href: `${head}/keys/new?environment=test`, text: 'New test key', needs: 'keys.manage' },
        { href: `${head}/keys/new?environment=live`, text: 'New live key', needs: 'keys.manage' },
      ],
    })}
${await keyTable(visit, { business, merchant: business.test, environment: 'test' })}
${await keyTable(visit, { business, merchant: business.live, environment: 'live' })}`;
    return { title: 'API keys', body };
  },
};

async function keyTable({ money, base, now }: ConsoleVisit, of: MerchantOfBusiness): Promise<Html> {
  const { merchant, environment, business } = of;
  const keys = await listKeys(money.db, money.clock, merchant);
  const title = environment === 'test' ? 'Test' : 'Live';
  const hrefOf = ({ id }: ListedKey): string =>
    `${base}/businesses/${business.id}/keys/${id}?environment=${environment}`;
  return html`<section class="found"><h2>${title}</h2>${
    keys.length === 0
      ? html`<section class="empty"><p>No ${environment} keys yet.</p></section>`
      : html`<table class="list"><caption class="unseen">${title} keys</caption><thead><tr><th scope="col">Name</th>
<th scope="col" class="wide">Key</th><th scope="col" class="wide">May</th><th scope="col" class="wide">Last used</th><th scope="col">State</th></tr></thead>
<tbody>${keys.map(
          (key) => html`<tr><td><a href="${hrefOf(key)}"><span class="first">${foreignText(key.name)}</span></a>
<span class="second phone">${keyText(key, merchant.testMode)}</span></td>
<td class="wide"><code>${keyText(key, merchant.testMode)}</code></td><td class="wide">${scopesText(key.scopes)}</td>
<td class="wide">${key.lastUse ? shownTime(key.lastUse.usedAt, now) : 'Never'}</td><td>${stateMark(keyState(key))}</td></tr>`,
        )}</tbody></table>`
  }</section>`;
}

async function loadKey(visit: ConsoleVisit, input: PageInput): Promise<KeyOfMerchant> {
  const of = await loadMerchant(visit, input);
  const { db, clock } = visit.money;
  const key = (await listKeys(db, clock, of.merchant)).find(({ id }) => id === input.params['key']);
  if (!key) throw new AppError('not_found', 'There is no such API key in this environment.');
  return { ...of, key };
}

const show: ConsoleRoute = {
  path: `${path}/:key`,
  action: 'records.read',
  async handle(visit, input) {
    const { key, business, merchant, environment } = await loadKey(visit, input);
    const { now, base } = visit;
    const hrefOf = (name: string): string =>
      `/businesses/${business.id}/keys/${key.id}/${name}?environment=${environment}`;
    const body = html`${recordHead(visit, {
      heading: foreignText(key.name),
      state: keyState(key),
      under: html`<p><a href="${base}/businesses/${business.id}/keys">API keys of ${foreignText(business.name)}</a>, ${environment}</p>`,
      actions: [
        isOn(key) && key.rolledTo === null && { href: hrefOf('roll'), text: 'Roll key', needs: 'keys.manage' },
        isOn(key) && { href: hrefOf('revoke'), text: 'Revoke', needs: 'keys.manage', isDanger: true },
      ],
    })}
<section class="panel"><h2>Details</h2>${facts([
      ['Key', html`<code>${keyText(key, merchant.testMode)}</code>`],
      ['May', scopesText(key.scopes)],
      ['From', key.addresses === null ? 'Any address' : key.addresses.join(', ')],
      ['Last used', key.lastUse ? html`${shownTime(key.lastUse.usedAt, now)} from ${key.lastUse.address}` : 'Never'],
      ['Created', shownTime(key.createdAt, now)],
      ['Ends', key.expiresAt === null ? 'Never' : shownTime(key.expiresAt, now)],
      ['Revoked', key.revokedAt && shownTime(key.revokedAt, now)],
      ['Key id', key.id],
    ])}</section>`;
    return { title: cleanText(key.name), body };
  },
};

const create = formRoutes<MerchantOfBusiness>({
  ...{ path: `${path}/new`, action: 'keys.manage', load: loadMerchant },
  view: ({ business, environment }) => ({
    heading: `New ${environment} key`,
    effect: html`<p>Of ${foreignText(business.name)}. Its owners are told by mail. Give it to nobody but them, and never in a message.</p>`,
    fields: keyFields,
    values: keyValues,
    button: 'Create the key',
    back: { href: `/businesses/${business.id}/keys`, text: 'Back to the keys' },
  }),
  async submit(visit, { subject, body, formId }) {
    const { text } = await writeNewKey(writerOf(visit, subject), 'keys.create', (tx) =>
      createApiKey(tx, visit.keys, subject.merchant, { ...newKeyOf(body), id: formId }),
    );
    return newKeyPage(visit, subject, text, html`<p>It works from now on.</p>`);
  },
});

function newKeyPage({ base }: ConsoleVisit, { business, environment }: MerchantOfBusiness, text: string, effect: Html) {
  return secretPage({
    ...{ title: `A new ${environment} key of ${cleanText(business.name)}`, label: 'API key', secret: text, effect },
    next: { href: `${base}/businesses/${business.id}/keys`, text: 'I have copied it' },
  });
}

function writerOf(visit: ConsoleVisit, { business, merchant }: MerchantOfBusiness): KeyWriter {
  const { money, accounts } = visit;
  return {
    ...{ db: money.db, merchant, accounts, who: 'The operator of the service' },
    audit: (tx, act) => audit(tx, visit, { ...act, businessId: business.id, testMode: merchant.testMode }),
  };
}

const roll = formRoutes<KeyOfMerchant>({
  ...{ path: `${path}/:key/roll`, action: 'keys.manage', load: loadKey },
  view: ({ key, business, merchant }) => ({
    heading: 'Roll this key?',
    effect: html`${namedKey(key, merchant.testMode)}<p>A new key with the same name and rights replaces it.</p>`,
    fields: [overlapField],
    button: 'Roll key',
    back: { href: `/businesses/${business.id}/keys`, text: 'Keep it' },
  }),
  async submit(visit, { subject, body }) {
    const rolled = { id: subject.key.id, overlapMs: overlapMsOf(body) };
    const { text, previous } = await writeNewKey(writerOf(visit, subject), 'keys.roll', (tx) =>
      rollApiKey(tx, visit.keys, subject.merchant, rolled),
    );
    return newKeyPage(
      visit,
      subject,
      text,
      html`<p>The old key ends: ${shownTime(previous.expiresAt, visit.now)}.</p>`,
    );
  },
});

const revoke = formRoutes<KeyOfMerchant>({
  ...{ path: `${path}/:key/revoke`, action: 'keys.manage', load: loadKey },
  view: ({ key, business, merchant }) => ({
    heading: 'Revoke this key?',
    effect: html`${namedKey(key, merchant.testMode)}<p>Within seconds every request with it is refused. It cannot be turned on again.</p>`,
    button: 'Revoke',
    isDanger: true,
    back: { href: `/businesses/${business.id}/keys`, text: 'Keep it' },
  }),
  async submit(visit, { subject }) {
    await writeRevokedKey(writerOf(visit, subject), visit.money.clock, subject.key.id);
  },
});

// `new` comes before `:key`.
export const keyPages: readonly ConsoleRoute[] = [list, ...create, show, ...roll, ...revoke];
