import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderHtml } from '../../kit/html.ts';
import { keyboardFor } from './answer-keyboard.ts';

const labels: Record<string, string[]> = {
  tel: [
    'Phone',
    'Your phone number',
    'Parent’s phone',
    'Telephone:',
    'WhatsApp',
    'Mobile (WhatsApp)',
    'Numéro de téléphone',
  ],
  email: ['Email', 'E-mail address', 'Your email', 'Adresse e-mail', 'Courriel'],
  numeric: [
    'Number of tickets',
    'How many children?',
    'Quantity',
    'Age',
    'Child’s age',
    'Nombre d’élèves',
    'Âge',
    'Quantité',
  ],
};

for (const [inputmode, ofKind] of Object.entries(labels)) {
  for (const label of ofKind) {
    test(`“${label}” opens the ${inputmode} keyboard, and nothing checks the answer`, () => {
      const attributes = renderHtml(keyboardFor(label));
      assert.ok(attributes.includes(` inputmode="${inputmode}"`), attributes);
      assert.doesNotMatch(attributes, /type="(?:email|number)"|pattern|required/);
    });
  }
}

const uncertain = [
  'Student',
  'Student number',
  'House number',
  'Class',
  'Village',
  'Age group',
  'Phone model',
  'Homophone',
  'Email or phone?',
  'Message',
  'Number',
  'Account number',
  '',
];
for (const label of uncertain) {
  test(`“${label}” opens the usual keyboard`, () => {
    assert.equal(renderHtml(keyboardFor(label)), ' type="text"');
  });
}

test('the payer’s own number is offered for a label that names nobody else', () => {
  const autocomplete = ['Phone', 'Your phone number', 'Parent’s phone', 'Guardian phone'].map(
    (label) => /autocomplete="(\w+)"/.exec(renderHtml(keyboardFor(label)))?.[1],
  );
  assert.deepEqual(autocomplete, ['tel', 'tel', undefined, undefined]);
});
