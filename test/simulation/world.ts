import { readConfig } from '../../server/src/configuration/config.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { approveLive } from '../../server/src/merchants/business-status.ts';
import { createApiKey } from '../../server/src/merchants/manage-keys.ts';
import { createOnboardingContext, onboardBusiness } from '../../server/src/operator/onboard-business.ts';
import { createOperator } from '../../server/src/operators/manage-operators.ts';
import { listMailbox } from '../../server/src/mail/mail.ts';
import { openSecrets } from '../../server/src/process/open-secrets.ts';
import { updateEndpoint } from '../../server/src/webhooks/manage-endpoints.ts';
import { testKeys } from '../harness/service.ts';
import { Acts, type ActsOptions } from './acts.ts';
import { carryCalls } from './calls.ts';
import { ChangeFeeds } from './change-feed.ts';
import { Choices } from './choices.ts';
import { Commits } from './commits.ts';
import { ConsoleActs } from './console-acts.ts';
import { ConsoleOperators } from './console-operators.ts';
import { atDesk } from './desk.ts';
import { Dashboard, type Member } from './dashboard.ts';
import { hireConsoleOperators, hireMembers, hireTeam } from './hire-members.ts';
import { asInstance, consoleName, machineNames, type Machine } from './instance.ts';
import { LockTimeouts } from './lock-timeouts.ts';
import { emptyDatabase } from './shared-database.ts';
import {
  appOptionsOf,
  crash,
  internalUrl,
  newInstance,
  newMachine,
  publicUrl,
  settingsOf,
  startInstance,
  type MachineRoom,
} from './machines.ts';
import { switchOn } from './switch-on.ts';
import { createMerchantClient, type MerchantClient } from './merchant-client.ts';
import { NetworkPauses } from './network-pauses.ts';
import { awaitedDatabase, startNetworks, type Networks } from './networks.ts';
import { Operators } from './operators.ts';
import type { ActKind, FaultKind } from './kinds.ts';
import { accountFields, connectOwnAccount, secondAccountName } from './own-account.ts';
import { Oversight, type OversightOptions } from './oversight.ts';
import { Payers } from './payers.ts';
import {
  hasConsole,
  hasDesk,
  hasLiveMerchant,
  hasMembers,
  hasOversight,
  hasPayers,
  hasTeam,
  hasTill,
  type Plan,
} from './plan.ts';
import { ReceiptPayers } from './receipt-payers.ts';
import { receiverPath, receiverUrl } from './receivers.ts';
import { Scheduler } from './scheduler.ts';
import { Team, type TeamOptions } from './team.ts';
import { connectTill, Till } from './till.ts';
import { inject, Traffic } from './traffic.ts';
import { UnsettledPayouts } from './unsettled-payouts.ts';
import { Upkeep } from './upkeep.ts';
import { VirtualClock } from './virtual-clock.ts';

export const startedAt = new Date('2026-11-20T12:00:00.000Z');
const merchantsCount = 2;
const nextSealKey = 'd'.repeat(64);

/** Everything that a simulated run consists of. */
export interface World {
  room: MachineRoom;
  machines: readonly Machine[];
  networks: Networks;
  traffic: Traffic;
  acts: Acts;
  payers: Payers;
  receiptPayers: ReceiptPayers;
  till: Till;
  dashboard: Dashboard | undefined;
  consoleOperators: ConsoleOperators | undefined;
  team: Team | undefined;
  oversight: Oversight | undefined;
  consoleActs: ConsoleActs | undefined;
  merchants: readonly MerchantClient[];
  operators: Operators;
  networkPauses: NetworkPauses;
  unsettled: UnsettledPayouts;
  /** The merchants' accounts at the networks. */
  accounts: readonly string[];
  choices: Choices;
  /** Whether the times that machines write may differ from those that have passed. */
  hasClockJumps: boolean;
  /** The restarts that operators wait for; the next step is the first of them. */
  restarts: Restart[];
  /** Reads and writes past the service. */
  db: Database;
  /** Ends all instances. */
  stop(): Promise<void>;
}

export interface Restart {
  machine: string;
  done: () => void;
}

export async function createWorld(plan: Plan): Promise<World> {
  const choices = new Choices(`run ${plan.seed}`);
  const clock = new VirtualClock(startedAt);
  const shared = await emptyDatabase();
  const { outside } = shared;
  const scheduler = new Scheduler(choices, shared);
  new LockTimeouts({ scheduler, clock, shared });
  const isLost = () => choices.below(5) === 0;
  const feeds = new ChangeFeeds({ waitForStep: (label) => scheduler.waitForStep(label), isLost });
  const restarts: Restart[] = [];
  const room = roomOf(plan, { shared, clock, scheduler, feeds, restarts });
  const onboarded = await onboard(room, outside, plan);
  const db = awaitedDatabase(outside, () => scheduler.beginStatement('outside'));
  const { secrets } = onboarded;
  const networks = await startNetworks({
    ...{ db, clock: clock.ofMachine(), scheduler, secrets, seed: plan.seed, publicUrl, internalUrl },
  });
  const machines = machineNames.map((name) => newMachine(name, name.startsWith('api') ? 'api' : 'worker'));
  const { simulatorCallbackSecret: callbackSecret } = secrets;
  const traffic = new Traffic({ scheduler, clock, choices, machines, networks, callbackSecret, faults: plan.faults });
  for (const { merchant, secret } of onboarded.merchants) traffic.receivers.learn(merchant.shortId, secret);
  carryCalls((call) => traffic.carry(call));
  scheduler.isOn = true;
  void asInstance(undefined, () => networks.sendCallbacks());
  for (const machine of machines) await startInstance(room, machine);
  const [program, ...others] = clientsOf(onboarded, { traffic, clock });
  const waitForStep = (label: string) => scheduler.waitForStep(label);
  const note = (text: string) => scheduler.note(text);
  const { operators, upkeep } = await hireOperators(room, outside);
  const learnSecret = (shortId: string, secret: string) => traffic.receivers.learn(shortId, secret);
  const till = new Till({ traffic, clock });
  const [payers, receiptPayers] = hirePayers({ traffic, clock, networks, db, waitForStep, note, till });
  const opened = { traffic, machine: machines[0], members: onboarded.members, first: program };
  const dashboard = await openDashboard(room, opened);
  const base = `/dashboard/test/${program.shortId}`;
  const first = dashboard && hasDesk(plan) ? atDesk({ dashboard, client: program, base, seed: plan.seed }) : program;
  const merchants: readonly [MerchantClient, ...MerchantClient[]] = [first, ...others];
  const { businessId } = onboarded;
  const administered = { traffic, clock, note, client: first, businessId };
  const team = openTeam(onboarded, { ...administered, db, waitForStep });
  const { consoleOperators, oversight, consoleActs } = openConsole(plan, onboarded, administered);
  const networkPauses = new NetworkPauses({ upkeep, clock, client: first, db, waitForStep });
  const acts: Acts = new Acts({
    ...{ merchants, networks, operators, upkeep, networkPauses, payers, receiptPayers, till },
    ...{ dashboard, consoleOperators, team, oversight, consoleActs, learnSecret, clock, businessId },
    ...{ db, waitForStep, note, receivers: traffic.receivers, hasDoubledRequests: hasFault(plan, 'doubled') },
    switchOn: async (merchant) => {
      if (traffic.receivers.whyOff(merchant.shortId) === 'gone')
        await switchOn(merchant, { receivers: traffic.receivers, acts });
    },
  });
  return {
    ...{ room, machines, networks, traffic, acts, payers, receiptPayers, till, dashboard },
    ...{ consoleOperators, team, oversight, consoleActs, operators, networkPauses, choices, restarts, db },
    ...{ merchants, unsettled: new UnsettledPayouts(), hasClockJumps: hasFault(plan, 'clock_jump') },
    accounts: onboarded.merchants.map(({ merchant }) => merchant.shortId),
    stop: async () => {
      scheduler.isOn = false;
      for (const { instance } of machines) if (instance) await crash(room, instance);
      await scheduler.settle();
    },
  };
}

function clientsOf(
  onboarded: Awaited<ReturnType<typeof onboard>>,
  options: { traffic: Traffic; clock: VirtualClock },
): [MerchantClient, ...MerchantClient[]] {
  const [first, ...others] = onboarded.merchants.map(({ merchant, key, endpointId }) =>
    createMerchantClient(merchant, { key, endpointId, ...options }),
  );
  if (!first) throw new Error('there is no merchant');
  return [first, ...others];
}

function roomOf(
  plan: Plan,
  { restarts, ...parts }: Pick<MachineRoom, 'shared' | 'clock' | 'scheduler' | 'feeds'> & { restarts: Restart[] },
): MachineRoom {
  return {
    ...{ ...parts, seed: plan.seed, commits: new Commits(parts.clock), logLines: [], networkSecrets: {} },
    ...{ hasPayers: hasPayers(plan), hasMembers: hasMembers(plan) || hasTeam(plan), hasConsole: hasConsole(plan) },
    sealKeys: [testKeys.SEAL_KEY],
    restart: (machine) => new Promise((done) => restarts.push({ machine, done })),
  };
}

/** Those who are signed in to the console, and what they look after. */
function openConsole(
  plan: Plan,
  { logins, secrets }: Pick<Awaited<ReturnType<typeof onboard>>, 'logins' | 'secrets'>,
  administered: Omit<OversightOptions, 'consoleOperators'> & Pick<TeamOptions, 'traffic'>,
): Pick<World, 'consoleOperators' | 'oversight' | 'consoleActs'> {
  const consoleOperators = logins.length > 0 ? new ConsoleOperators({ ...administered, logins }) : undefined;
  if (!consoleOperators || !hasOversight(plan))
    return { consoleOperators, oversight: undefined, consoleActs: undefined };
  const options = { ...administered, consoleOperators };
  const { businessId, client } = administered;
  const named = { name: secondAccountName, environment: 'test', business: businessId, order: '5' };
  const secondAccount = { ...named, ...accountFields({ shortId: client.shortId, secrets, internalUrl }) };
  return {
    consoleOperators,
    oversight: new Oversight(options),
    consoleActs: new ConsoleActs({ ...options, secondAccount }),
  };
}

function hasFault({ faults }: Plan, kind: FaultKind): boolean {
  return faults.some((fault) => fault.kind === kind);
}

function hirePayers(options: ConstructorParameters<typeof ReceiptPayers>[0]): [Payers, ReceiptPayers] {
  return [new Payers(options), new ReceiptPayers(options)];
}

// An account of a merchant's own has circuit breakers for all its payouts, and those of the test environment for each number.
const ofOwnAccount: ReadonlySet<string> = new Set<ActKind>([
  ...([
    'pause_account',
    'rotate_account',
    'payday',
    'pause_at_console',
    'account_at_console',
    'pause_network',
  ] as const),
]);

async function onboard(room: MachineRoom, db: Database, plan: Plan) {
  const { acts } = plan;
  const clock = room.clock.ofMachine();
  const random = seededRandom(`${room.seed} onboarding`);
  const config = readConfig(settingsOf(room, 'api'));
  const { secrets } = await openSecrets(readSecrets(config, random), { db, clock });
  await secrets.sealer.prepare();
  const context = createOnboardingContext(config, { clock, random, secrets });
  const merchants = [];
  for (let count = 1; count <= merchantsCount; count += 1) {
    const isLive = count === 1 && hasLiveMerchant(plan);
    const opened = await db.withTransaction(async (tx) => {
      const { test, live } = await onboardBusiness(tx, context, { name: `Shop ${count}`, rateLimitPerSecond: 0n });
      const { merchant, endpoint, webhookSecret } = isLive ? live : test;
      if (isLive) await approveLive(tx, context, merchant.businessId);
      const owner = { merchantId: merchant.id, testMode: merchant.testMode };
      const change = { url: `${receiverUrl}${receiverPath(merchant.shortId)}`, enabledEvents: ['*'] };
      await updateEndpoint(tx, context, owner, { id: endpoint.id, change });
      const { text: key, record } = await createApiKey(tx, context, merchant, { name: 'Simulation' });
      return { merchant, key, keyId: record.id, endpointId: endpoint.id, secret: webhookSecret };
    });
    merchants.push(opened);
  }
  const [first] = merchants;
  if (first && acts.some(({ kind }) => ofOwnAccount.has(kind)))
    await connectOwnAccount(db, first.merchant, { clock, secrets, internalUrl });
  if (first && hasTill(plan)) await connectTill(db, first.merchant, { clock, secrets });
  const { simulatorBearerSecret, simulatorCallbackSecret } = secrets;
  room.networkSecrets = { simulatorBearerSecret, simulatorCallbackSecret };
  if (acts.some(({ kind }) => kind === 'rotate_seal_key')) room.sealKeys = [testKeys.SEAL_KEY, nextSealKey];
  const members =
    first && hasMembers(plan)
      ? await hireMembers(
          db,
          { businessId: first.merchant.businessId, hasDesk: hasDesk(plan) },
          { clock, random, secrets },
        )
      : [];
  const logins = hasConsole(plan) ? await hireConsoleOperators(db, { clock, random, secrets }) : [];
  const team = first && hasTeam(plan) ? await hireTeam(db, first.merchant.businessId, { clock, random, secrets }) : [];
  const [businessId, keyId] = [first?.merchant.businessId ?? '', first?.keyId ?? ''];
  return { merchants, secrets, members, logins, team, businessId, keyId };
}

function openTeam(
  { team: [one, other, developer], keyId, secrets: { sealer } }: Awaited<ReturnType<typeof onboard>>,
  {
    db,
    waitForStep,
    client,
    ...options
  }: Pick<TeamOptions, 'traffic' | 'clock' | 'note' | 'client'> & Pick<ActsOptions, 'db' | 'waitForStep'>,
): Team | undefined {
  if (!one || !other || !developer) return undefined;
  const readMail = async (address: string) => {
    await waitForStep('somebody reads their mail');
    return (await listMailbox({ db, sealer })).find(({ recipient }) => recipient === address)?.text;
  };
  const base = `/dashboard/test/${client.shortId}`;
  return new Team({ ...options, base, people: [one, other, developer], client, keyId, readMail });
}

/** Its people sign in while everything else stands still: the hash of a password takes a time that no step has. */
async function openDashboard(
  room: MachineRoom,
  {
    traffic,
    machine,
    members,
    first,
  }: { traffic: Traffic; machine: Machine | undefined; members: readonly Member[]; first: MerchantClient },
): Promise<Dashboard | undefined> {
  const { clock, scheduler } = room;
  const instance = machine?.instance;
  if (members.length === 0 || !instance?.app) return undefined;
  const { server } = instance.app;
  const base = `/dashboard/test/${first.shortId}`;
  const dashboard = new Dashboard({ traffic, clock, base, members, note: (text) => scheduler.note(text) });
  scheduler.isOn = false;
  await dashboard.signIn((call) => asInstance(instance, () => inject(server, call)));
  scheduler.isOn = true;
  return dashboard;
}

/** They work at a machine of their own, which does not crash, and which has a new seal key before the others seal with it. */
async function hireOperators(room: MachineRoom, db: Database): Promise<{ operators: Operators; upkeep: Upkeep }> {
  const instance = newInstance(newMachine(consoleName, 'api'));
  room.scheduler.isOn = false;
  const app = await asInstance(instance, () =>
    appOptionsOf({ ...room, sealKeys: room.sealKeys.toReversed() }, instance),
  );
  const newId = () => uuidV7(app.clock, app.random);
  const context = { ...app, newId, pepper: Buffer.from('simulated') };
  const hire = async (name: string) => (await createOperator(db, context, name)).operator.id;
  const operatorIds = [await hire('Fatou'), await hire('Lamin')] as const;
  const options = { instance, app, operatorIds, note: (text: string) => room.scheduler.note(text) };
  const operators = new Operators(options);
  await asInstance(instance, () => operators.connect());
  room.scheduler.isOn = true;
  return { operators, upkeep: new Upkeep({ ...options, room }) };
}
