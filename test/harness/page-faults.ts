import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from './browser.ts';

const [findLayoutFaults, findFocusFaults] = ['layout-faults.js', 'focus-faults.js'].map((name) =>
  readFileSync(join(import.meta.dirname, name), 'utf8'),
) as [string, string];

/** What a person could not see or press on the page now, a line each: cut, covered, broken amounts, low buttons. */
export async function layoutFaults(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(findLayoutFaults);
}

/** What of the page's main part cannot be reached by keyboard, or does not show it, a line each. */
export async function focusFaults(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(findFocusFaults);
}

/** Whether the page's choice, if it has one, looks different once it is made, without focus and pointer. */
export async function showsChoice(page: Page): Promise<boolean> {
  const choice = page.locator('input[type=radio] + label').first();
  if ((await choice.count()) === 0) return true;
  const draw = async (checked: boolean): Promise<Buffer> => {
    await page.evaluate(`document.querySelector('input[type=radio]').checked = ${checked}`);
    return await choice.screenshot();
  };
  const unchosen = await draw(false);
  return !unchosen.equals(await draw(true));
}

// Frequent in English; a page in another language that has one has a text that was forgotten.
const englishWords = 'the you your is are was not and this that of to it for from with has have when can pay'.split(
  ' ',
);

/** Texts of the page, but for names and what merchants wrote (`bdi`), that have English words. */
export async function englishTexts(page: Page, language: string): Promise<string[]> {
  const own = readFileSync(join(import.meta.dirname, `../../server/src/languages/texts/${language}.ftl`), 'utf8');
  const texts = own.replaceAll(/^#.*$/gm, '').toLowerCase();
  const foreign = englishWords.filter((word) => !new RegExp(`\\b${word}\\b`).test(texts));
  return await page.evaluate<string[]>(`(() => {
    const english = new RegExp('\\\\b(?:${foreign.join('|')})\\\\b', 'i');
    const names = [...document.querySelectorAll('bdi')].map((name) => name.textContent);
    const title = names.reduce((text, name) => text.replaceAll(name, ''), document.title);
    const found = english.test(title) ? [title] : [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { data, parentElement } = walker.currentNode;
      if (!parentElement.closest('bdi, style, script, noscript, [lang=en]') && english.test(data)) found.push(data.trim());
    }
    return found;
  })()`);
}
