import assert from 'node:assert/strict';
import type { Member } from '../../../../test/harness/dashboard-world.ts';

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** The hidden fields of the form that acts on a page, as a browser sends them. */
export function hiddenFields(page: string): Record<string, string> {
  const [, form] = /<form method="post"(.*?)<\/form>/s.exec(page) ?? [];
  assert.ok(form !== undefined, 'the page has a form that acts');
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(
    fields.map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/&[a-z0-9#]+;/g, (text) => entities[text] ?? text),
    ]),
  );
}

/** Opens a form, fills it in and sends it. */
export async function sendForm(
  member: Member,
  address: string,
  typed: Readonly<Record<string, string>>,
): Promise<{ status: number; location: string | null; text: string }> {
  const drawn = await member.get(address);
  assert.equal(drawn.status, 200, address);
  return press(member, address, { ...hiddenFields(await drawn.text()), ...typed });
}

/** Presses the button of a form that was drawn before. */
export async function press(
  member: Member,
  address: string,
  fields: Readonly<Record<string, string>>,
): Promise<{ status: number; location: string | null; text: string }> {
  const response = await member.post(address, fields);
  return { status: response.status, location: response.headers.get('location'), text: await response.text() };
}
