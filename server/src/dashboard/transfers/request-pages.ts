import type { Static } from 'typebox';
import { AppError } from '../../api/app-error.ts';
import type { Transaction } from '../../kit/db.ts';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { formatAmount } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import {
  decideTransferRequest,
  getTransferRequest,
  listWaitingRequests,
  refuseDecided,
  requestState,
  type DecidedRequest,
  type RequestState,
} from '../../transfers/transfer-requests.ts';
import { transferSchema } from '../../transfers/transfer-wire.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { timeInSentence, type StateMark } from '../../portal/patterns/texts.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { act, audit } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { numberText, recordWithNumber, showButton, type Shown } from '../patterns/shown-number.ts';
import { metadataFacts } from '../patterns/metadata.ts';
import type { Visit } from '../visit.ts';
import { payoutText } from './request-transfer.ts';

// Payouts that one person has asked for, and that wait until a second one approves them.

const marks: Readonly<Record<RequestState, StateMark>> = {
  waiting: { tone: 'wait', icon: 'clock', text: 'Waits for a second person' },
  approved: { tone: 'good', icon: 'check', text: 'Approved' },
  declined: { tone: 'calm', icon: 'cross', text: 'Declined' },
  expired: { tone: 'calm', icon: 'clock', text: 'Expired' },
};

function load({ money, merchant }: Visit, { params }: PageInput): Promise<DecidedRequest> {
  const id = params['id'] ?? '';
  if (!isUuid(id)) throw new AppError('not_found', 'There is no such payout in this environment.');
  return getTransferRequest(money.db, merchant.id, id);
}

const list: DashboardRoute = {
  path: '/transfers/requests',
  action: 'transfers.read',
  async handle(visit) {
    const { money, merchant, now, base } = visit;
    const waiting = await listWaitingRequests(money.db, merchant.id, { now });
    const heading = 'Payouts that wait for a second person';
    return {
      title: heading,
      body: html`${recordHead(visit, { heading, state: null, actions: [] })}
${
  waiting.length === 0
    ? html`<p>None waits. <a href="${base}/transfers">Back to the transfers</a></p>`
    : html`<section class="panel"><ul class="things">${waiting.map(
        (
          request,
        ) => html`<li><span><a href="${base}/transfers/requests/${request.id}">${foreignText(payoutText(request))}</a>
<span class="hint">${foreignText(request.requestedByName)} requested it, ${timeInSentence(request.createdAt, now)}</span></span></li>`,
      )}</ul></section>`
}`,
    };
  },
};

const show = recordWithNumber<DecidedRequest>({
  ...{
    path: '/transfers/requests/:id',
    action: 'transfers.read',
    object: 'transfer_request',
    load,
  },
  async page(visit, { subject: request, shown }) {
    const { amountMinor, body, createdAt, requestedByName } = request;
    const { now, base } = visit;
    const state = requestState(request, now);
    const path = `/transfers/requests/${request.id}`;
    const isOwn = request.requestedBy === visit.account.id;
    const isWaiting = state === 'waiting';
    return {
      title: `Payout of ${formatAmount(amountMinor)}`,
      body: html`${recordHead(visit, {
        heading: formatAmount(amountMinor),
        state: marks[state],
        under: html`<p>${foreignText(requestedByName)} requested it, ${timeInSentence(createdAt, now)}.</p>`,
        actions: [
          isWaiting && !isOwn && { href: `${path}/approve`, text: 'Approve', needs: 'transfers.approve' },
          isWaiting && { href: `${path}/decline`, text: isOwn ? 'Take it back' : 'Decline', needs: 'transfers.create' },
        ],
        reasons: reasonsOf(state, isOwn),
      })}
<section class="panel"><h2>Details</h2>${facts([
        ...payeeFacts(body, shown),
        [
          'From',
          request.subAccountId &&
            html`<a href="${base}/sub-accounts/${request.subAccountId}">The sub-account’s balance</a>`,
        ],
        ['Message', typeof body['narration'] === 'string' ? foreignText(body['narration']) : null],
        ...metadataFacts((body['metadata'] ?? {}) as Record<string, string>),
        [
          state === 'approved' ? 'Approved by' : 'Declined by',
          request.decidedByName &&
            html`${foreignText(request.decidedByName)}, ${request.decidedAt && timeInSentence(request.decidedAt, now)}`,
        ],
        [
          'Transfer',
          request.transferId && html`<a href="${base}/transfers/${request.transferId}">See the transfer</a>`,
        ],
      ])}${showButton(visit, shown)}</section>`,
    };
  },
});

function payeeFacts(body: DecidedRequest['body'], shown: Shown): [string, Html][] {
  const [number, network] = [String(body['account_number']), networkName(String(body['network']))];
  return [
    ['To', html`<strong>${numberText(number, shown)}</strong> at ${network}`],
    ['Name', foreignText(String(body['beneficiary_name']))],
  ];
}

function reasonsOf(state: RequestState, isOwn: boolean): string[] {
  if (state === 'expired') return ['Nobody decided within seven days. Nothing was sent.'];
  if (state === 'declined') return ['Nothing was sent.'];
  if (state === 'approved') return [];
  return [
    'Nothing is held and nothing is sent until somebody else approves it.',
    ...(isOwn ? ['You asked for it, so somebody else who may pay out has to approve it.'] : []),
  ];
}

/** Why this person cannot decide now. */
function refusalOf(request: DecidedRequest, { now, account }: Visit, { isApproval }: { isApproval: boolean }) {
  const state = requestState(request, now);
  if (state !== 'waiting') return html`<p>${marks[state].text}: there is nothing left to decide.</p>`;
  if (isApproval && request.requestedBy === account.id) {
    return html`<p>You asked for this payout. Somebody else who may pay out has to approve it.</p>`;
  }
  return undefined;
}

const isDecidedBy = (request: DecidedRequest, { account }: Visit, decision: DecidedRequest['decision']) =>
  request.decision === decision && request.decidedBy === account.id;

const back = ({ id }: DecidedRequest) => ({ href: `/transfers/requests/${id}`, text: 'Keep it' });

const approve = formRoutes<DecidedRequest>({
  ...{ path: '/transfers/requests/:id/approve', action: 'transfers.approve', load },
  view: (request, visit) => ({
    heading: `Pay out ${formatAmount(request.amountMinor)}?`,
    effect: html`${facts(payeeFacts(request.body, { isWhole: false }))}
<p>${foreignText(request.requestedByName)} asked for it. Compare name and number with what you know, digit by digit:
<a href="${visit.base}/transfers/requests/${request.id}">the payout’s page</a> shows the whole number.</p>
<p>Once the network has it, a payout cannot be taken back.</p>`,
    refusal: refusalOf(request, visit, { isApproval: true }),
    button: `Pay out ${formatAmount(request.amountMinor)}`,
    back: back(request),
  }),
  resultOf: (request, visit) =>
    isDecidedBy(request, visit, 'approved') ? `/transfers/${request.transferId}` : undefined,
  async submit(visit, { subject: request }) {
    const by = { decidedBy: visit.account.id, decidedByName: visit.account.name };
    const { id } = await act(visit, {
      ...operationOf(request),
      schema: transferSchema,
      // That of the form which requested it, so that it is paid out once, whoever presses what again.
      formId: request.id,
      // For want of money, it can be approved once there is more.
      forgetsRefusals: true,
      alsoWrite: (tx, payout) => {
        refuseOtherDestination(request, payout);
        const decidedAt = visit.money.clock.now();
        decideTransferRequest(tx, request, { decision: 'approved', ...by, transferId: payout.id, decidedAt });
      },
    }).catch(refuseDecided);
    return `/transfers/${id}`;
  },
});

function operationOf({ subAccountId, body }: DecidedRequest) {
  if (subAccountId === null) return { operationId: 'createTransfer', body, object: { type: 'transfer' } };
  return {
    operationId: 'createSubAccountPayout',
    params: { id: subAccountId },
    body: { amount: body['amount'] },
    object: { type: 'sub_account', id: subAccountId },
  };
}

/** Within the transaction of the payout, which nothing can come between: the sub-account's destination may have changed since. */
function refuseOtherDestination({ subAccountId, body }: DecidedRequest, payout: Static<typeof transferSchema>): void {
  if (subAccountId === null || (payout.network === body['network'] && payout.account_number === body['account_number']))
    return;
  const message =
    'The sub-account is paid out to another destination by now. Decline this payout and request it again.';
  throw new AppError('state_conflict', message);
}

const decline = formRoutes<DecidedRequest>({
  ...{ path: '/transfers/requests/:id/decline', action: 'transfers.create', load },
  view: (request, visit) => ({
    heading: 'Decline this payout?',
    effect: html`<p>${foreignText(payoutText(request))}.</p><p>Nothing is sent.</p>`,
    refusal: refusalOf(request, visit, { isApproval: false }),
    button: 'Decline the payout',
    isDanger: true,
    back: back(request),
  }),
  resultOf: (request, visit) => (isDecidedBy(request, visit, 'declined') ? back(request).href : undefined),
  async submit(visit, { subject: request }) {
    const by = { decidedBy: visit.account.id, decidedByName: visit.account.name };
    const write = async (tx: Transaction): Promise<void> => {
      const decidedAt = visit.money.clock.now();
      decideTransferRequest(tx, request, { decision: 'declined', ...by, transferId: null, decidedAt });
      const object = { type: 'transfer_request', id: request.id };
      audit(tx, visit, { action: 'transfers.decline', object, changes: [] });
    };
    await visit.accounts.db.withTransaction(write).catch(refuseDecided);
  },
});

export const transferRequestPages: readonly DashboardRoute[] = [list, ...approve, ...decline, ...show];
