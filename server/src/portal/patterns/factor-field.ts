import { needsFactorEachTime } from '../../accounts/permissions.ts';
import { passkeyRequest } from '../../accounts/passkeys.ts';
import { listPasskeys } from '../../accounts/second-factor.ts';
import { hasRecentFactor } from '../../accounts/sessions.ts';
import { html, type Html } from '../../kit/html.ts';
import { textField, type FormState } from '../forms.ts';
import type { AnyAction, PortalVisit } from './page-route.ts';

/** Whether a form for this action asks for the second factor. */
export function requiresFactor<Action extends AnyAction>(
  { session, now, may }: PortalVisit<Action>,
  action: NoInfer<Action>,
): boolean {
  return may(action).needsSecondFactor && (needsFactorEachTime(action) || !hasRecentFactor(session, now));
}

/** The field of the second factor in a form, nothing where the action needs none: a code, or a passkey where scripts run. */
export async function factorField<Action extends AnyAction>(
  visit: PortalVisit<Action>,
  { action, form }: { action: NoInfer<Action>; form: FormState },
): Promise<Html> {
  if (!requiresFactor(visit, action)) return html``;
  const { accounts, account } = visit;
  const hasPasskey = (await listPasskeys(accounts.db, account.id)).length > 0;
  const hasApp = account.totpConfirmedAt !== null;
  if (!hasApp && !hasPasskey) {
    return html`<p class="notice wait"><span>This needs a second factor, and you have none yet.
<a href="${visit.accountPath}">Set one up</a></span></p>`;
  }
  const question = hasPasskey ? JSON.stringify(await passkeyRequest(accounts, account)) : null;
  return html`<fieldset class="stack factor">
${textField(form, {
  ...{
    name: 'second_factor',
    label: hasApp ? 'Code of your authenticator app' : 'Recovery code',
    autocomplete: 'one-time-code',
  },
  ...{
    inputmode: 'numeric',
    isOptional: hasPasskey,
    ...(hasApp && { hint: 'Six digits, or a recovery code.' }),
  },
})}
${
  question !== null &&
  html`<input type="hidden" name="passkey" value=""><p role="alert"></p>
<button class="button plain" hidden data-passkey-button="${question}">Use a passkey instead</button>`
}
</fieldset>`;
}
