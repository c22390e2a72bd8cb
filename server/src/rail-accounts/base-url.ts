import { isLoopback } from '../kit/loopback.ts';

/**
 * Why an account may not call this address, in a sentence; null where it may. A production server calls networks by https only.
 * A development server calls nothing but itself, so that no test moves real money, whatever was restored into its database.
 */
export function baseUrlProblem(text: string, { production }: { production: boolean }): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'A base URL is an address such as https://api.network.example.';
  }
  if (url.username !== '' || url.password !== '') return 'A base URL holds no credentials: give them by their options.';
  if (url.search !== '' || url.hash !== '') return 'A base URL ends before a question mark or a #.';
  if (production) return url.protocol === 'https:' ? null : 'A production server calls networks by https only.';
  return isLoopback(url.hostname)
    ? null
    : 'A development server calls loopback addresses only (http://127.0.0.1:<port>): it never moves real money. Set APP_ENV=production to connect a network.';
}
