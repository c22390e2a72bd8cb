import { mailOwners } from '../accounts/owner-mails.ts';
import type { AccountContext } from '../accounts/context.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { Endpoint } from './endpoint.ts';

/** What people have to know about an endpoint. */
export type EndpointTrouble = { kind: 'failing'; since: Date } | { kind: 'disabled'; reason: 'gone' | 'failing' };

/** Writes the mails about an endpoint in the transaction of the change. Call `sealer.prepare()` before it. */
export type MailEndpointTrouble = (tx: Transaction, endpoint: Endpoint, trouble: EndpointTrouble) => Promise<void>;

interface MailParts extends Pick<AccountContext, 'sendMail' | 'publicUrl'> {
  merchants: Pick<MerchantDirectory, 'byId'>;
  /** Gets a mail about live endpoints; null if the operator wants none. */
  operatorEmail: string | null;
}

/** Mails the owners of an endpoint's business, and the operator if the endpoint is live. */
export function createEndpointMails({ merchants, sendMail, publicUrl, operatorEmail }: MailParts): MailEndpointTrouble {
  return async (tx, endpoint, trouble) => {
    const merchant = await merchants.byId(endpoint.merchantId, tx);
    assert(merchant, 'an endpoint has a merchant');
    const { businessId, shortId, testMode, name } = merchant;
    const environment = testMode ? 'test' : 'live';
    const subject = `a webhook endpoint ${trouble.kind === 'failing' ? 'fails' : 'was disabled'} (${environment})`;
    const what = `Webhook endpoint in ${environment}: ${endpoint.url ?? 'without an address'}

${sentencesOf(trouble)}`;
    const path = `/dashboard/${environment}/${shortId}/endpoints/${endpoint.id}`;
    await mailOwners(tx, { sendMail, publicUrl }, businessId, {
      subject,
      what,
      path,
      pathText: 'See what it returned:',
    });
    if (testMode || operatorEmail === null) return;
    // An address can hold a secret of the business, which is none of the operator's.
    const host = endpoint.url === null ? 'without an address' : `at ${new URL(endpoint.url).host}`;
    const text = `Webhook endpoint ${endpoint.id} of ${name}, ${host}:\n\n${sentencesOf(trouble)}`;
    sendMail(tx, { to: operatorEmail, subject: `${name}: ${subject}`, text });
  };
}

function sentencesOf(trouble: EndpointTrouble): string {
  if (trouble.kind === 'failing') {
    const since = `${trouble.since.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    return `It has accepted no event since ${since}. Events are tried again. After five days without a success the endpoint is disabled.`;
  }
  const cause =
    trouble.reason === 'gone'
      ? 'It returned 410, which means that nobody wants events there any more, and was disabled.'
      : 'It has accepted no event for five days and was disabled.';
  return `${cause} Its events are kept: once it works, enable it and send them again.`;
}
