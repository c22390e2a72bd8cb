import { publicUrl } from './machines.ts';
import { readPage, type Page, type PageForm } from './page.ts';
import type { CallResponse } from './calls.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Where a form led, or the page that it left the payer on. */
export type Sent = { location: string } | { page: Page };

export interface SentFile {
  field: string;
  text: string;
}

export interface BrowserOptions {
  traffic: Pick<Traffic, 'carry'>;
  clock: VirtualClock;
  /** Of somebody who is signed in already. */
  cookies?: Readonly<Record<string, string>>;
}

type Typed = Readonly<Record<string, string>>;

const urlEncoded = 'application/x-www-form-urlencoded';
const boundary = 'boundary-of-a-simulated-browser';
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

  setCookie(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  async open(path: string): Promise<Page> {
    const { status, body } = await this.#load('GET', path, null);
    return readPage(path, status, body.toString('utf8'));
  }

  /** With a file, as the browser sends a form that has one. */
  async send({ action, hidden }: PageForm, typed: Typed, file?: SentFile): Promise<Sent> {
    const fields = { ...hidden, ...typed };
    const sent = file ? withFile(fields, file) : { type: urlEncoded, text: new URLSearchParams(fields).toString() };
    const { status, headers, body } = await this.#load('POST', action, sent);
    if (status === 303) return { location: headers['location'] ?? '' };
    return { page: readPage(action, status, body.toString('utf8')) };
  }

  async #load(method: string, path: string, sent: { type: string; text: string } | null): Promise<CallResponse> {
    let last = 'no try';
    for (let tries = 0; tries < triesMax; tries += 1) {
      try {
        const headers = this.#headers(sent?.type);
        const call = { method, url: new URL(path, publicUrl), headers, body: Buffer.from(sent?.text ?? '') };
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

  #headers(type: string | undefined): Record<string, string> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return {
      ...(type === undefined ? {} : { 'content-type': type }),
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

function withFile(fields: Typed, { field, text }: SentFile): { type: string; text: string } {
  const part = (name: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const parts = Object.entries(fields).map(([name, value]) => part(name, value));
  const file = part(`${field}"; filename="statement.csv`, text);
  return { type: `multipart/form-data; boundary=${boundary}`, text: `${parts.join('')}${file}--${boundary}--\r\n` };
}
