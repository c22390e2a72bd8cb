import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages } from '../languages/languages.ts';
import { posterTexts } from './poster-texts.ts';
import { createTypesetter } from './typesetter.ts';

test('the font of posters has every character of their texts, in every language', () => {
  const typesetter = createTypesetter();
  for (const language of languages) {
    for (const text of Object.values(posterTexts(language)))
      assert.equal(typesetter.printable(text), text, language.code);
  }
});
