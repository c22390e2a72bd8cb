import { AppError } from '../../api/app-error.ts';
import type { Static } from 'typebox';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { formatAmount } from '../../kit/money.ts';
import { linkSchema } from '../../links/wire-schemas.ts';
import { cleanText, foreignLines, foreignText } from '../../pages/page-text.ts';
import { qrCode } from '../../pages/qr-code.ts';
import { listPayments, type FoundPayment } from '../../payments/find-payment.ts';
import { getGroup } from '../../sub-accounts/manage-groups.ts';
import { getSubAccount } from '../../sub-accounts/manage-sub-accounts.ts';
import { listTakingsOfLinks } from '../../transactions/terminal-summary.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { paymentsPanel } from '../payments/payments-panel.ts';
import { recordHistory } from '../patterns/record-history.ts';
import { metadataFacts } from '../patterns/metadata.ts';
import { copyField } from '../../portal/patterns/copy-field.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { minorOf } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { linkMark } from './link-list.ts';

export type Link = Static<typeof linkSchema>;

const newestMax = 10;

/** Throws AppError `not_found`. */
export async function readLink({ api }: Visit, id = ''): Promise<Link> {
  if (!isUuid(id)) throw new AppError('not_found', 'There is no such payment link in this environment.');
  return api.call('retrievePaymentLink', linkSchema, { params: { id } });
}

export const linkPage: DashboardRoute = {
  path: '/links/:id',
  action: 'records.read',
  async handle(visit, { params }) {
    const { money, merchant, now } = visit;
    const link = await readLink(visit, params['id']);
    const [takings] = await listTakingsOfLinks(money.db, merchant.id, [link.id]);
    const page = { limit: newestMax, offset: 0, before: null };
    const { rows } = await listPayments(money, merchant.id, page, { paymentLinkId: link.id, now });
    const split = await splitText(visit, link);
    return {
      title: cleanText(link.title),
      body: html`${linkBody(visit, { link, takings, rows, split })}
${await recordHistory(visit, { id: link.id, createdAt: new Date(link.createdAt) })}`,
    };
  },
};

interface LinkView {
  link: Link;
  takings: { count: bigint; paidMinor: bigint; refundedMinor: bigint } | undefined;
  rows: FoundPayment[];
  split: Html | null;
}

function linkBody(visit: Visit, { link, takings, rows, split }: LinkView): Html {
  const isActive = link.status === 'active';
  const path = `/links/${link.id}`;
  const { count = 0n, paidMinor = 0n, refundedMinor = 0n } = takings ?? {};
  return html`${recordHead(visit, {
    heading: foreignText(link.title),
    state: linkMark(isActive),
    actions: [
      { href: `${path}/edit`, text: 'Change', needs: 'links.write' },
      { href: `${path}/switch`, text: isActive ? 'Switch off' : 'Switch on', needs: 'links.write' },
      { href: `${path}/delete`, text: 'Delete', needs: 'links.write', isDanger: true },
    ],
  })}
<div class="columns"><section class="panel"><h2>Send it to whoever pays</h2>
${copyField('link-address', 'Address of the page', link.url)}
${qrCode(link.url, 'QR code of the payment link')}
<p class="hint">Payers scan it with their phone’s camera. It leads to the address above.</p></section>
<div class="stack"><section class="panel"><h2>Collected</h2>${facts([
    ['Payments', count.toLocaleString('en-GB')],
    ['Paid', formatAmount(paidMinor)],
    ['Refunded', refundedMinor > 0n ? formatAmount(-refundedMinor) : null],
    ['Collected', formatAmount(paidMinor - refundedMinor)],
  ])}</section>
<section class="panel"><h2>Settings</h2>${facts([
    ['Amount', amountText(link)],
    ['Description', link.description === null ? null : foreignLines(link.description)],
    [
      'Payers fill in',
      link.custom_fields.length === 0
        ? null
        : html`${link.custom_fields.map((label, index) => html`${index > 0 && ', '}${foreignText(label)}`)}`,
    ],
    ...metadataFacts(link.metadata),
    ['Split', split],
    ['After paying, back to', link.redirect_url],
    ['After cancelling, back to', link.cancel_url],
    ['Id', html`<code>${link.id}</code>`],
  ])}</section></div></div>
${paymentsPanel(visit, rows, { allHref: `/payments?link=${link.id}`, empty: 'Nobody has opened a payment through this link yet.' })}`;
}

function amountText({ amount, min_amount: minimum }: Link): string {
  if (amount !== null) return formatAmount(minorOf(amount));
  return minimum === null ? 'The payer enters it' : `The payer enters it, at least ${formatAmount(minorOf(minimum))}`;
}

async function splitText({ money, merchant, base }: Visit, link: Link): Promise<Html | null> {
  const { sub_account: subAccountId, sub_account_group: groupId } = link;
  const read = async (): Promise<{ href: string; name: string } | null> => {
    if (subAccountId !== null) {
      const { name } = await getSubAccount(money.db, merchant.id, subAccountId);
      return { href: `/sub-accounts/${subAccountId}`, name };
    }
    if (groupId === null) return null;
    return { href: `/groups/${groupId}`, name: (await getGroup(money.db, merchant.id, groupId)).name };
  };
  try {
    const found = await read();
    return found && html`<a href="${base}${found.href}">${foreignText(found.name)}</a>`;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    return html`Its ${subAccountId === null ? 'group' : 'sub-account'} was deleted: the link takes no payments until you change it.`;
  }
}
