import { fieldError } from '../api/app-error.ts';

export const answerLengthMax = 200;

/**
 * Trims the labels. Throws AppError `invalid_request` naming a label that is empty or repeated.
 */
export function readLabels(labels: readonly string[], path: string): string[] {
  const accepted: string[] = [];
  for (const [index, sent] of labels.entries()) {
    const label = sent.trim();
    const fieldPath = `${path}.${index}`;
    if (label === '') throw fieldError('invalid_request', fieldPath, `${fieldPath} must not be empty.`);
    // Answers are stored in an object keyed by label, where this key would set the prototype.
    if (label === '__proto__') throw fieldError('invalid_request', fieldPath, `${fieldPath} cannot have this name.`);
    const same = accepted.findIndex((other) => other.toLowerCase() === label.toLowerCase());
    if (same !== -1) throw fieldError('invalid_request', fieldPath, `${fieldPath} is the same as ${path}.${same}.`);
    accepted.push(label);
  }
  return accepted;
}

/**
 * The payer's answers in the order of the labels; null if there is none. No answer is required: a payer who cannot answer can
 * still pay. Throws AppError `invalid_request` naming `custom_fields.N`.
 */
export function readAnswers(
  labels: readonly string[],
  answers: Readonly<Record<string, string>>,
): Record<string, string> | null {
  const sent = new Map(Object.entries(answers));
  const accepted = labels.flatMap((label, index): [string, string][] => {
    // A one-line field cannot contain line feeds, and PostgreSQL stores no NUL. Half of a surrogate pair would make each JSON document
    // that has the answer unreadable to many parsers.
    const answer = (sent.get(label) ?? '')
      .toWellFormed()
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim();
    if (answer.length > answerLengthMax) {
      const message = `${label}: write at most ${answerLengthMax} characters.`;
      throw fieldError('invalid_request', `custom_fields.${index}`, message);
    }
    return answer === '' ? [] : [[label, answer]];
  });
  return accepted.length === 0 ? null : Object.fromEntries(accepted);
}
