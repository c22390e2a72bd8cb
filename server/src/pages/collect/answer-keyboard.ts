import { html, type Html } from '../../kit/html.ts';

// Merchants name their fields freely. What is not certain gets the usual keyboard, on which everything can be typed.
const phone =
  /(?:^|[\s'’])(?:(?:tele)?phone|téléphone|tél|mobile|whatsapp)(?:[ -]?(?:number|numbers|no|nr))?$|^(?:numéro|n°) (?:de )?(?:téléphone|mobile|portable|whatsapp)$/;
const email = /(?:^|[\s'’])(?:e-?mail|courriel)(?: address)?$/;
const count =
  /^(?:number of|how many|nombre d(?:e |es |['’])|combien d(?:e |['’]))|(?:^|[\s'’])(?:quantity|quantité|qty|age|âge)$/;

const alternatives = /\/|(?:^|\s)(?:or|ou|and|et)\s/;

/**
 * The attributes that open the keyboard on which an answer to this label is typed. They check nothing: `type="email"` and
 * `"number"` would refuse some answers. The payer's own number is offered only where the label names nobody else.
 */
export function keyboardFor(label: string): Html {
  const words = label
    .toLowerCase()
    .replaceAll(/\([^)]*\)/g, ' ')
    .replaceAll(/[:?*.\s]+/g, ' ')
    .trim()
    .replace(/^(?:your|votre|my|mon) /, '');
  const isOneThing = !alternatives.test(label.toLowerCase());
  if (isOneThing && phone.test(words)) {
    return html` type="tel" inputmode="tel"${isOwn(phone, words) && html` autocomplete="tel"`}`;
  }
  if (isOneThing && email.test(words)) {
    return html` type="text" inputmode="email" autocapitalize="none"${isOwn(email, words) && html` autocomplete="email"`}`;
  }
  return count.test(words) ? html` type="text" inputmode="numeric"` : html` type="text"`;
}

function isOwn(kind: RegExp, words: string): boolean {
  return kind.exec(words)?.index === 0;
}
