import assert from 'node:assert/strict';
import { it } from 'node:test';
import { defaultLanguage, languages, textsOf } from './languages.ts';
import { createTypesetter } from './typesetter.ts';

it('every language has the same texts, none is empty, and the font can print each', () => {
  const typesetter = createTypesetter();
  const keys = Object.keys(textsOf(defaultLanguage).texts);
  assert.deepEqual([...languages.keys()], ['en', 'mnk', 'wo']);
  for (const [code, language] of languages) {
    assert.match(code, /^[a-z]{2,3}$/);
    assert.deepEqual(Object.keys(language).toSorted(), ['name', 'texts', 'untranslated'], code);
    assert.deepEqual(Object.keys(language.texts), keys, code);
    for (const text of Object.values(language.texts)) {
      assert.ok(text.length > 0, code);
      assert.equal(typesetter.printable(text), text, code);
    }
  }
});

it('a language is marked untranslated exactly if its texts are English', () => {
  for (const [code, { untranslated, texts }] of languages) {
    const isEnglish = JSON.stringify(texts) === JSON.stringify(textsOf(defaultLanguage).texts);
    assert.equal(untranslated, isEnglish && code !== defaultLanguage, code);
  }
});
