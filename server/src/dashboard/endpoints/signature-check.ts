import { html } from '../../kit/html.ts';
import { foreignText } from '../../pages/page-text.ts';
import { checkSignature, type SignatureFinding } from '../../webhooks/check-signature.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { stateMark, type StateMark } from '../../portal/patterns/texts.ts';
import { endpointName, loadEndpoint, type ShownEndpoint } from './endpoint-state.ts';

const good = (text: string): StateMark => ({ tone: 'good', icon: 'check', text });
const bad = (text: string): StateMark => ({ tone: 'bad', icon: 'cross', text });

const findings: Record<SignatureFinding, { mark: StateMark; text: string }> = {
  verified: { mark: good('It verifies'), text: 'It was signed with this endpoint’s current secret.' },
  verified_previous: {
    mark: good('It verifies'),
    text: 'It was signed with the secret from before it was rolled. Put the new one on your server before the old one ends.',
  },
  late: {
    mark: bad('Too old'),
    text: 'The signature is right, but its time is more than five minutes away: receivers refuse that, so that nobody sends an old request again. Compare your server’s clock.',
  },
  changed_body: {
    mark: bad('The body was changed'),
    text: 'It verifies once spaces and line breaks are taken out. Your framework parsed the body and wrote it anew, or an editor added lines: verify the raw bytes, before anything parses them.',
  },
  other_endpoint: {
    mark: bad('Another endpoint’s secret'),
    text: 'Another endpoint of yours signed it. Each has a secret of its own: compare the address.',
  },
  lost_secret: {
    mark: bad('Its secret cannot be opened'),
    text: 'The key that it was sealed with is lost, so nobody can check a signature with it. Roll the secret, and put the new one on your server.',
  },
  no_signature: { mark: bad('No signature'), text: 'Paste the value of the signature header.' },
  no_timestamp: {
    mark: bad('No time'),
    text: 'A signature that begins with v1, covers webhook-id and webhook-timestamp too. Paste both; the time is seconds since 1970.',
  },
  mismatch: {
    mark: bad('It does not verify'),
    text: 'No secret of yours makes this signature of this body, id and time. Something of them was changed or cut, or it does not come from us.',
  },
};

/** Paste what a server received and see whether it verifies, and why not. Nothing of it is kept. */
export const signatureCheck: readonly DashboardRoute[] = formRoutes<ShownEndpoint>({
  path: '/endpoints/:id/signature',
  action: 'requests.read',
  load: loadEndpoint,
  view: (endpoint) => ({
    heading: 'Check a signature',
    effect: html`<p>Paste a request as your server got it from us at ${foreignText(endpointName(endpoint))}. Nothing of it is kept.</p>`,
    fields: [
      { kind: 'area', name: 'body', label: 'Body', hint: 'The raw bytes, not parsed and written anew.' },
      { kind: 'text', name: 'signature', label: 'Signature', hint: 'Of webhook-signature, or of our own header.' },
      { kind: 'text', name: 'id', label: 'webhook-id' },
      { kind: 'text', name: 'timestamp', label: 'webhook-timestamp' },
    ],
    button: 'Check',
    back: { href: `/endpoints/${endpoint.id}`, text: 'Back to the endpoint' },
  }),
  async submit({ webhooks, merchant, base }, { subject, input: { form } }) {
    const { body = '', signature = '', id = '', timestamp = '' } = form;
    // Browsers send each line break of a text field as two characters.
    const received = { body: body.replaceAll('\r\n', '\n'), signature, id, timestamp };
    const finding = findings[await checkSignature(webhooks, merchant.id, { endpointId: subject.id, received })];
    return {
      title: finding.mark.text,
      body: html`<section class="narrow-form panel"><h1>${finding.mark.text}</h1><p>${stateMark(finding.mark)}</p><p>${finding.text}</p>
<div class="actions"><a class="button" href="${base}/endpoints/${subject.id}/signature">Check another</a>
<a class="button plain" href="${base}/endpoints/${subject.id}">Back to the endpoint</a></div></section>`,
    };
  },
});
