import { html, type Html } from '../../kit/html.ts';
import type { AnyAction, PortalVisit } from './page-route.ts';
import { shownTime, stateMark, type StateMark } from './texts.ts';

/** Something that a person may do with a record in its state, as a link to the page that asks. */
export interface RecordAction<Action extends AnyAction> {
  href: string;
  text: string;
  needs: Action;
  isDanger?: boolean;
}

/** The head of a record's page: its name or amount, its state, and the actions that role and state allow. */
export function recordHead<Action extends AnyAction>(
  { base, may }: PortalVisit<Action>,
  head: {
    heading: Html | string;
    state: StateMark | null;
    /** False for what the record's state does not allow. */
    actions: readonly (RecordAction<NoInfer<Action>> | false)[];
    /** Why an action that people look for is not there: “It was cancelled, so there is nothing to refund.” */
    reasons?: readonly string[];
    under?: Html;
  },
): Html {
  const allowed = head.actions.filter((action) => action !== false).filter(({ needs }) => may(needs).isAllowed);
  return html`<header class="head"><div><h1>${head.heading} ${head.state && stateMark(head.state)}</h1>${head.under}
${(head.reasons ?? []).map((reason) => html`<p class="hint">${reason}</p>`)}</div>
${
  allowed.length > 0 &&
  html`<p class="actions">${allowed.map(
    ({ href, text, isDanger }) =>
      html`<a class="button small plain ${isDanger && 'danger'}" href="${base}${href}">${text}</a>`,
  )}</p>`
}</header>`;
}

/** Facts as pairs of a name and a value; pairs without a value are left out. */
export function facts(
  pairs: readonly (readonly [name: Html | string, value: Html | string | null | undefined])[],
): Html {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

export interface TimelineEntry {
  at: Date;
  /** Without it only developers read the entry. */
  text?: Html | string;
  /** What only a developer reads. */
  technical?: Html | string;
}

/** A text that people paste elsewhere, such as a reference; the button appears where scripts run. */
export function copyable(text: string): Html {
  return html`<code>${text}</code> <button type="button" class="copy" hidden data-copy="${text}">Copy</button>`;
}

/** What happened, oldest first; what only developers read is folded away once, below. */
export function timeline(
  { now }: { now: Date },
  entries: readonly TimelineEntry[],
  { heading = 'What happened', below = html`` }: { heading?: string; below?: Html } = {},
): Html {
  const shown = entries.filter(({ text }) => text !== undefined);
  const technical = entries.filter((entry) => entry.technical !== undefined);
  return html`<section class="panel"><h2>${heading}</h2><ol class="timeline">${shown.map(
    ({ at, text }) => html`<li>${shownTime(at, now)}<div>${text}</div></li>`,
  )}</ol>${
    technical.length > 0 &&
    html`<details><summary>Technical details</summary><dl class="facts">${technical.map(
      (entry) =>
        html`<div><dt><time datetime="${entry.at.toISOString()}">${entry.at.toISOString()}</time></dt><dd>${entry.technical}</dd></div>`,
    )}</dl></details>`
  }${below}</section>`;
}
