import { StartError } from '../kit/start-error.ts';
import type { SettingName } from './settings.ts';

/** The value may hold a password, so the message does not repeat it. */
export function checkUrl(name: SettingName, value: string, schemes: readonly string[]): string {
  if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol)) {
    throw new StartError(`${name} must be an address that begins with ${schemes.join('// or ')}//.`);
  }
  if (!isDecodable(value)) throw new StartError(`${name} contains a % that is not percent-encoded; write it as %25.`);
  return value;
}

/** User, password and database are percent-encoded; a stray % makes the URL unreadable. */
function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch {
    return false;
  }
}

export function withoutSlash<Url extends string | null>(url: Url): Url | string {
  return url === null ? url : url.replace(/\/+$/, '');
}

/** Pages link to each other from the root, so a path would break them; payers see the URL, so it must hold no password. */
export function checkOrigin(name: SettingName, address: string): string {
  const { href, origin } = new URL(address);
  if (href === `${origin}/`) return address;
  throw new StartError(`${name} must be an address without path and user name, for example https://pay.example.gm.`);
}
