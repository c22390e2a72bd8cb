import type { FastifyInstance, FastifyReply } from 'fastify';
import { homeOf } from '../../accounts/sign-up.ts';
import {
  acceptInvitation,
  acceptInvitationAnew,
  findInvitationOf,
  findInvited,
  type AlsoWrite,
} from '../../accounts/team.ts';
import { html, type Html } from '../../kit/html.ts';
import { seeOther } from '../../pages/page-scope.ts';
import { emptyForm, formSummary, submitForm, textField, type FormState } from '../forms.ts';
import { narrowPage } from '../narrow-page.ts';
import { recordJoin } from './member-audit.ts';
import { endedLink, withNext, type VisitorPagesOptions, type VisitorRequest } from './visitor-pages.ts';

const base = homeOf('merchant');

/** The pages of a link that invites to a business's team. */
export function registerInvitationPages(scope: FastifyInstance, options: VisitorPagesOptions): void {
  const { context, visitorLimit, guardField, send } = options;
  const show = async (request: VisitorRequest, reply: FastifyReply, form: FormState, status = 200) => {
    const token = request.params.token ?? '';
    const invitation = await findInvitationOf(context, token);
    if (!invitation) return send(request, reply, { status: 404, ...endedLink(base) });
    const hasLogin = (await findInvited(context, invitation.email)) !== undefined;
    const signedIn = request.signedIn?.session.isComplete === true ? request.signedIn : null;
    const address = `${base}/invitation/${token}`;
    const title = `Join ${invitation.businessName}`;
    if (signedIn && signedIn.account.email !== invitation.email) {
      const body = otherLogin(guardField(request), { invited: invitation.email, email: signedIn.account.email });
      return send(request, reply, { status, ...narrowPage(title, html`${formSummary(form, [])}${body}`) });
    }
    const join = html`<form method="post" action="${address}" class="stack">
${guardField(request)}${formSummary(form, ['name', 'password'])}
${
  !hasLogin &&
  html`${textField(form, { name: 'name', label: 'Your name', autocomplete: 'name' })}
${textField(form, { name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password' })}`
}
<button class="button">Join ${invitation.businessName}</button>
</form>`;
    const page = narrowPage(
      title,
      html`<p>${invitation.businessName} invites ${invitation.email} as ${invitation.role}.</p>
${
  hasLogin && !signedIn
    ? html`<p><a class="button" href="${withNext(`${base}/sign-in`, address)}">Sign in to join</a></p>`
    : join
}`,
    );
    return send(request, reply, { status, ...page });
  };
  scope.get('/invitation/:token', async (request: VisitorRequest, reply) => show(request, reply, emptyForm));
  scope.post('/invitation/:token', async (request: VisitorRequest, reply) => {
    const refuse = (form: FormState, status: number) => show(request, reply, form, status);
    return submitForm(request, refuse, async ({ name = '', password = '' }) => {
      visitorLimit.take(request.ip);
      const { token = '' } = request.params;
      const { signedIn } = request;
      const record: AlsoWrite = (tx, joined) => recordJoin(tx, context, request, joined);
      if (signedIn?.session.isComplete === true) {
        await acceptInvitation(context, signedIn.account, token, record);
        return seeOther(reply, `${base}/businesses`);
      }
      await acceptInvitationAnew(context, { token, name, password }, record);
      return seeOther(reply, `${base}/sign-in?after=joined`);
    });
  });
}

/** An invitation that was opened in a browser where somebody else is signed in. */
function otherLogin(guardField: Html, { invited, email }: { invited: string; email: string }): Html {
  return html`<p>This invitation is for ${invited}, and you are signed in as ${email}. Sign out, then open the link of the mail again.</p>
<form method="post" action="${base}/sign-out">${guardField}<button class="button">Sign out</button></form>
<p><a href="${base}/businesses">Stay signed in</a></p>`;
}
