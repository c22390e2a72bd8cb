import { publicUrl } from './machines.ts';
import { readPage, type Page, type PageForm } from './page.ts';
import type { CallResponse } from './calls.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Where a form led, or the page that it left the payer on. */
export type Sent = { location: string } | { page: Page };

const triesMax = 12;
const pauseMs = 3_000;

/** A phone's browser without scripts. Where no page comes, its payer tries again, or presses again. */
export class Browser {
  readonly #traffic: Traffic;
  readonly #clock: VirtualClock;

  constructor({ traffic, clock }: { traffic: Traffic; clock: VirtualClock }) {
    this.#traffic = traffic;
    this.#clock = clock;
  }

  async open(path: string): Promise<Page> {
    const { status, body } = await this.#load('GET', path, '');
    return readPage(status, body.toString('utf8'));
  }

  async send({ action, hidden }: PageForm, typed: Readonly<Record<string, string>>): Promise<Sent> {
    const form = new URLSearchParams({ ...hidden, ...typed }).toString();
    const { status, headers, body } = await this.#load('POST', action, form);
    if (status === 303) return { location: headers['location'] ?? '' };
    return { page: readPage(status, body.toString('utf8')) };
  }

  async #load(method: string, path: string, form: string): Promise<CallResponse> {
    const headers: Record<string, string> = form === '' ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    let last = 'no try';
    for (let tries = 0; tries < triesMax; tries += 1) {
      try {
        const call = { method, url: new URL(path, publicUrl), headers, body: Buffer.from(form) };
        const response = await this.#traffic.carry(call);
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
}
