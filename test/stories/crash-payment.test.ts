import { collectionPoints, deliveryPoints, planPoints, startPoints } from '../harness/crash-paths.ts';
import { charge, chargeAnotherNumber, chargeUntilResponse, verifyPayment } from '../harness/crash-payment.ts';
import { outboundCall, commit, since, statements, autocommit } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { countWhere } from '../harness/crash-world.ts';
import { effort } from '../harness/effort.ts';
import { eventually } from '../harness/eventually.ts';

testCrashStory({
  title: 'while it accepts a payment',
  role: 'api',
  trigger: async (world, url) => {
    await charge(world, { url }).catch(() => null);
  },
  restart: async (world) => {
    await world.start('all');
    await chargeUntilResponse(world);
  },
  verify: (world) => verifyPayment(world),
  points: [
    { step: 'POST /v1/payments:arrived' },
    ...statements('idempotency_keys_insert_once'),
    ...commit('payment_intents_insert'),
    { step: 'POST /v1/payments:responded' },
  ],
  coveredElsewhere: [...statements('api_keys_find_by_hmac', 'merchants_find_by_id'), ...planPoints],
});

// Dalasi never repeats a collection request. If the process dies between recording the call and sending it, the payment
// fails and the payer can try again.
const notCollectedAt = ['charges_update_progress:after-commit', 'collections-call:before'];

const eventPoints = [...planPoints, ...deliveryPoints];

testCrashStory({
  title: 'while it collects a payment',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.dropCallbacks();
    await charge(world);
  },
  restart: async (world, { step }) => {
    if (step !== 'collections-call:sent') return;
    // An earlier look-up would find nothing at the network, and after a minute count as a failure.
    await eventually('the network has it', async () => (await countWhere(world, 'simulator.sessions')) === 1);
  },
  verify: (world, { step }) => verifyPayment(world, { notCollected: notCollectedAt.includes(step) }),
  points: collectionPoints,
  coveredElsewhere: eventPoints,
});

// The same by the connectors of the other networks; the usual run has the point at which most can go wrong. 54Pay never responds
// with a success, so a look-up books what it collects.
for (const { network, points } of [
  { network: 'wave', points: collectionPoints },
  { network: 'afrimoney', points: startPoints },
]) {
  testCrashStory({
    title: `while it collects a payment by ${network}`,
    role: 'worker',
    prepare: async (world) => {
      await world.start('api');
      await world.dropCallbacks();
      await charge(world, { network });
    },
    restart: async (world, { step }) => {
      if (step !== 'collections-call:sent') return;
      await eventually('the network has it', async () => (await countWhere(world, 'simulator.sessions')) === 1);
    },
    verify: (world, { step }) => verifyPayment(world, { notCollected: notCollectedAt.includes(step) }),
    // What is left for later, such as a look-up, waits for the clock, which stands.
    isDone: async (world) => (await countWhere(world, `charges WHERE progress NOT IN ('created', 'submitted')`)) === 1,
    points: effort({ usual: [{ step: 'collections-call:sent' }], long: points }),
    coveredElsewhere: [...collectionPoints, ...eventPoints],
  });
}

testCrashStory({
  title: 'while it stops an abandoned attempt before the next prompt',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.dropCallbacks();
    await chargeAnotherNumber(world);
  },
  verify: (world) => verifyPayment(world, { abandoned: true }),
  points: [
    ...statements('charges_list_of_intent'),
    ...autocommit('charge_notes_insert'),
    ...since('charge_notes_insert:after', [
      ...outboundCall('collections-call'),
      ...statements('payment_intents_lock', 'charges_update_outcome'),
      ...commit('charges_update_outcome'),
    ]),
  ],
  coveredElsewhere: [...collectionPoints, ...eventPoints],
});
