import { createRailAccountContext } from '../../server/src/app/contexts.ts';
import { readConfig } from '../../server/src/configuration/config.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Transaction } from '../../server/src/kit/db.ts';
import { createOnboardingContext } from '../../server/src/operator/onboard-business.ts';
import { resealSecrets } from '../../server/src/operator/reseal-secrets.ts';
import { keyringParts } from '../../server/src/process/open-secrets.ts';
import {
  disableRailAccount,
  enableRailAccount,
  rotateRailAccount,
  type RailAccountContext,
} from '../../server/src/rail-accounts/manage-accounts.ts';
import type { Choices } from './choices.ts';
import { asInstance, machineNames } from './instance.ts';
import { settingsOf, type MachineRoom } from './machines.ts';
import { attempt, type OperatorsOptions } from './operators.ts';
import { ownAccountName } from './own-account.ts';

const triesMax = 5;

export interface UpkeepOptions extends OperatorsOptions {
  room: MachineRoom;
}

/** What operators do for the service itself, at the console's machine. */
export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #accounts: RailAccountContext;
  readonly #clock: Clock;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#accounts = createRailAccountContext(options.app);
    this.#clock = options.app.clock;
  }

  /** For some seconds, in which the account takes no payment and no payout, and finishes what it has begun. */
  async pauseAccount(choices: Choices): Promise<void> {
    await this.pause();
    await asInstance(this.#options.instance, () => this.#clock.sleep(2_000 + choices.below(4) * 2_000));
    await this.resume();
  }

  /** The command `networks disable`. */
  pause(): Promise<unknown> {
    return this.#change('pauses an account', (tx, context) => disableRailAccount(tx, context, ownAccountName));
  }

  /** The command `networks enable`. */
  resume(): Promise<unknown> {
    return this.#change('resumes an account', (tx, context) => enableRailAccount(tx, context, ownAccountName));
  }

  /** Every process connects the account anew, with credentials that the network accepts as well. */
  async rotateAccount(): Promise<void> {
    const rotation = { baseUrl: null, fields: { 'client-id': 'simulated' }, overlapMs: 60_000 };
    await this.#change('rotates the secrets of an account', (tx, context) =>
      rotateRailAccount(tx, context, ownAccountName, rotation),
    );
  }

  /**
   * As docs/operations.md, "Changing the secrets" says, from its second step on: all processes know the new key. They get it as the
   * one that seals, all is sealed under it, and two processes start without the old one.
   */
  async rotateSealKey(): Promise<void> {
    const { room, note } = this.#options;
    room.sealKeys = room.sealKeys.toReversed();
    for (const machine of machineNames) await room.restart(machine);
    for (let tries = 0; tries < triesMax && room.sealKeys.length > 1; tries += 1) {
      const isResealed = await asInstance(this.#options.instance, () => this.#reseal());
      note(`  all is ${isResealed ? '' : 'not '}sealed under the new key`);
      if (isResealed) room.sealKeys = room.sealKeys.slice(0, 1);
    }
    if (room.sealKeys.length > 1) throw new Error('the old seal key cannot go');
    for (const machine of ['api-1', 'worker-1']) await room.restart(machine);
  }

  /** The command `secrets reseal`: whether nothing is left under another key. */
  async #reseal(): Promise<boolean> {
    const { app, room, note } = this.#options;
    const { db, clock, random } = app;
    const config = readConfig(settingsOf(room, 'api'));
    const keys = keyringParts(readSecrets(config, random), { db, clock });
    const onboarding = createOnboardingContext(config, { clock, random, secrets: app.secrets });
    const context = { db, clock, keys, onboarding, shellUser: null, progressTo: { write: () => {} } };
    const done = await attempt(note, 'reseals', () => resealSecrets(context));
    return done !== undefined && done.stillUsed.size === 0 && done.notedAgain.length === 0;
  }

  #change(what: string, change: (tx: Transaction, context: RailAccountContext) => Promise<unknown>): Promise<unknown> {
    const { db, sealer } = this.#accounts;
    return asInstance(this.#options.instance, () =>
      attempt(this.#options.note, what, async () => {
        await sealer.prepare();
        await db.withTransaction((tx) => change(tx, this.#accounts));
      }),
    );
  }
}
