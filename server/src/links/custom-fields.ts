import { fieldError } from '../kit/app-error.ts';

/** An answer on a form is a few words; what is longer belongs into the shop. */
export const answerLengthMax = 200;

/**
 * The labels as they are kept: without spaces around them, each once. Throws AppError `invalid_request` naming the one
 * that is wrong.
 */
export function readLabels(labels: readonly string[], path: string): string[] {
  const accepted: string[] = [];
  for (const [index, sent] of labels.entries()) {
    const label = sent.trim();
    const fieldPath = `${path}.${index}`;
    if (label === '') throw fieldError('invalid_request', fieldPath, `${fieldPath} must not be empty.`);
    // Answers are kept by their labels, and this name means something else to the programs that read them.
    if (label === '__proto__') throw fieldError('invalid_request', fieldPath, `${fieldPath} cannot have this name.`);
    const same = accepted.findIndex((other) => other.toLowerCase() === label.toLowerCase());
    if (same !== -1) throw fieldError('invalid_request', fieldPath, `${fieldPath} is the same as ${path}.${same}.`);
    accepted.push(label);
  }
  return accepted;
}

/**
 * What the payer filled in, in the order of the labels; null where nothing was. No answer is required: a payer who cannot
 * answer can still pay. Throws AppError `invalid_request` naming `custom_fields.N`.
 */
export function readAnswers(
  labels: readonly string[],
  answers: Readonly<Record<string, string>>,
): Record<string, string> | null {
  const sent = new Map(Object.entries(answers));
  const accepted = labels.flatMap((label, index): [string, string][] => {
    // A line feed or a NUL in a line of text is nobody's answer, and the database takes no NUL.
    const answer = (sent.get(label) ?? '').replaceAll(/\p{Cc}+/gu, ' ').trim();
    if (answer.length > answerLengthMax) {
      const message = `${label}: write at most ${answerLengthMax} characters.`;
      throw fieldError('invalid_request', `custom_fields.${index}`, message);
    }
    return answer === '' ? [] : [[label, answer]];
  });
  return accepted.length === 0 ? null : Object.fromEntries(accepted);
}
