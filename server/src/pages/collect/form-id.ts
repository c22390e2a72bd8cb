import { hash } from 'node:crypto';
import { html, type Html } from '../../kit/html.ts';
import { randomBase62 } from '../../kit/base62.ts';
import type { Random } from '../../kit/random.ts';

// 128 random bits: two payers never have the same form.
const formIdLength = 22;
const formIdPattern = /^[0-9A-Za-z]{22}$/;
const fieldName = 'form_id';
const labelsHashLength = 11;

/** Each form that is rendered has its own id: pressed twice, it makes one payment (`links/pay-once.ts`). */
export function newFormId(random: Random): string {
  return randomBase62(random, formIdLength);
}

export function formIdField(formId: string): Html {
  return html`<input type="hidden" name="${fieldName}" value="${formId}">`;
}

/** Null for a form without a valid one, such as that of a page of an earlier release. */
export function readFormId(body: unknown): string | null {
  const sent = (body as Record<string, unknown> | null | undefined)?.[fieldName];
  return typeof sent === 'string' && formIdPattern.test(sent) ? sent : null;
}

const labelsName = 'labels';

/** Answers are sent by position, so the form names the labels that its payer saw. */
export function labelsField(labels: readonly string[]): Html {
  if (labels.length === 0) return html``;
  return html`<input type="hidden" name="${labelsName}" value="${hashOfLabels(labels)}">`;
}

/** Whether the form was rendered with other labels: its answers belong to those. */
export function hasOtherLabels(body: Readonly<Record<string, unknown>>, labels: readonly string[]): boolean {
  const sent = body[labelsName];
  return typeof sent === 'string' && sent !== hashOfLabels(labels);
}

function hashOfLabels(labels: readonly string[]): string {
  return hash('sha256', JSON.stringify(labels), 'base64url').slice(0, labelsHashLength);
}

/** With the amount and the answers, because whoever goes back and enters others wants another payment. */
export function hashOfForm(form: {
  ownerId: string;
  formId: string;
  amountMinor: bigint;
  answers?: readonly string[];
}): string {
  const sent = [
    form.ownerId,
    form.formId,
    String(form.amountMinor),
    (form.answers ?? []).map((answer) => answer.trim()),
  ];
  return hash('sha256', JSON.stringify(sent), 'base64url');
}
