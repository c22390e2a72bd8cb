import type { CDPSession } from 'playwright-core';
import { accessibilityViolations, openOwnPage, type OwnPage } from './browser.ts';

/** The size and colours in which a page is seen. */
interface View {
  width: number;
  colours: 'light' | 'dark' | 'forced';
}

/** One page, which shows many cases one after the other: a page of its own for each costs half a second more. */
export class BrowserWindow {
  readonly opened: OwnPage;
  readonly #devtools: CDPSession;
  #runsScripts = true;

  constructor(opened: OwnPage, devtools: CDPSession) {
    this.opened = opened;
    this.#devtools = devtools;
  }

  get page(): OwnPage['page'] {
    return this.opened.page;
  }

  /** Before a page is opened: whether its scripts run. What the page before still asks for is no fault of the next one. */
  async prepare({ scripts }: { scripts: boolean }): Promise<void> {
    const { page, pageErrors } = this.opened;
    page.once('framenavigated', () => {
      pageErrors.length = 0;
    });
    this.#runsScripts = scripts;
    await this.#allowScripts(scripts);
  }

  async show({ width, colours }: View): Promise<void> {
    await this.page.setViewportSize({ width, height: width < 768 ? 740 : 800 });
    await this.page.emulateMedia({
      colorScheme: colours === 'dark' ? 'dark' : 'light',
      forcedColors: colours === 'forced' ? 'active' : 'none',
    });
  }

  /** What axe finds, also on a page without scripts: the checks are scripts themselves. */
  async accessibilityViolations(): Promise<string[]> {
    if (!this.#runsScripts) await this.#allowScripts(true);
    const violations = await accessibilityViolations(this.page);
    if (!this.#runsScripts) await this.#allowScripts(false);
    return violations;
  }

  close(): Promise<void> {
    return this.opened.context.close();
  }

  async #allowScripts(allowed: boolean): Promise<void> {
    await this.#devtools.send('Emulation.setScriptExecutionDisabled', { value: !allowed });
  }
}

export async function openWindow(textPercent: number): Promise<BrowserWindow> {
  const opened = await openOwnPage({ textPercent });
  return new BrowserWindow(opened, await opened.context.newCDPSession(opened.page));
}
