import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';

// Merchants name their fields freely. What is not certain gets the usual keyboard, on which everything can be typed.
const phone =
  /(?:^|[\s'’])(?:(?:tele)?phone|téléphone|tél|mobile|whatsapp)(?:[ -]?(?:number|numbers|no|nr))?$|^(?:numéro|n°) (?:de )?(?:téléphone|mobile|portable|whatsapp)$/;
const email = /(?:^|[\s'’])(?:e-?mail|courriel)(?: address)?$/;
const count =
  /^(?:number of|how many|nombre d(?:e |es |['’])|combien d(?:e |['’]))|(?:^|[\s'’])(?:quantity|quantité|qty|age|âge)$/;

/**
 * The attributes that open the keyboard on which an answer to this label is typed. They check nothing: `type="email"` and
 * `"number"` would refuse some answers.
 */
export function keyboardFor(label: string): Html {
  const words = label
    .toLowerCase()
    .replaceAll(/\([^)]*\)/g, ' ')
    .replaceAll(/[:?*.\s]+/g, ' ')
    .trim();
  if (phone.test(words)) return html` type="tel" inputmode="tel" autocomplete="tel"`;
  if (email.test(words)) return html` type="text" inputmode="email" autocomplete="email" autocapitalize="none"`;
  if (count.test(words)) return html` type="text" inputmode="numeric"`;
  return html` type="text"`;
}
