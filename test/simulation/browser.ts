import { publicUrl } from './machines.ts';
import { readPage, type Page, type PageForm } from './page.ts';
import type { CallResponse } from './calls.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Where a form led, or the page that it left the payer on. */
export type Sent = { location: string } | { page: Page };

export interface BrowserOptions {
  traffic: Pick<Traffic, 'carry'>;
  clock: VirtualClock;
  /** Of somebody who is signed in already. */
  cookies?: Readonly<Record<string, string>>;
}

const triesMax = 12;
const pauseMs = 3_000;

/** A browser without scripts. Where no page comes, whoever uses it tries again, or presses again. */
export class Browser {
  readonly #traffic: Pick<Traffic, 'carry'>;
  readonly #clock: VirtualClock;
  readonly #cookies: Map<string, string>;

  constructor({ traffic, clock, cookies = {} }: BrowserOptions) {
    this.#traffic = traffic;
    this.#clock = clock;
    this.#cookies = new Map(Object.entries(cookies));
  }

  async open(path: string): Promise<Page> {
    const { status, body } = await this.#load('GET', path, '');
    return readPage(path, status, body.toString('utf8'));
  }

  async send({ action, hidden }: PageForm, typed: Readonly<Record<string, string>>): Promise<Sent> {
    const form = new URLSearchParams({ ...hidden, ...typed }).toString();
    const { status, headers, body } = await this.#load('POST', action, form);
    if (status === 303) return { location: headers['location'] ?? '' };
    return { page: readPage(action, status, body.toString('utf8')) };
  }

  async #load(method: string, path: string, form: string): Promise<CallResponse> {
    let last = 'no try';
    for (let tries = 0; tries < triesMax; tries += 1) {
      try {
        const headers = this.#headers(form);
        const call = { method, url: new URL(path, publicUrl), headers, body: Buffer.from(form) };
        const response = await this.#traffic.carry(call);
        this.#keepCookies(response);
        if (response.status < 500 && response.status !== 429) return response;
        last = `status ${response.status}`;
        if (response.status !== 503 && response.status !== 429) break;
      } catch (error) {
        last = String(error);
      }
      await this.#clock.ofMachine().sleep(pauseMs);
    }
    throw new Error(`${method} ${path} has no page: ${last}`);
  }
  #headers(form: string): Record<string, string> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return {
      ...(form === '' ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(cookie === '' ? {} : { cookie, 'sec-fetch-site': 'same-origin' }),
    };
  }

  #keepCookies({ headers }: CallResponse): void {
    for (const line of (headers['set-cookie'] ?? '').split('\n')) {
      const [, name = '', value = ''] = /^([\w-]+)=([^;]*)/.exec(line) ?? [];
      if (name !== '') this.#cookies.set(name, value);
    }
  }
}
