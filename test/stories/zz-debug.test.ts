import { after, before, test } from 'node:test';
import { startPaymentStory } from '../harness/payment-story.ts';
import type { PaymentStory } from '../harness/payment-story.ts';
import { asOwner } from '../harness/tables.ts';
let story: PaymentStory;
before(async () => { story = await startPaymentStory(); });
after(() => story.stop());
test('x', async () => {
  for (let i = 0; i < 60; i += 1) {
    const id = await story.paySettled('7001234');
    await story.sendCallback('aps', await story.sessionOf(id, { status: 'on_hold', paid: null }));
    await story.settle();
    const at = story.service.logLines.length;
    await story.onPhone(id, 'approve');
    const status = (await story.transaction(id))['status'];
    if (status !== 'completed') {
      console.log(i, status, await asOwner(story.service, 'SELECT * FROM simulator.callbacks'));
      const c = await story.transaction(id);
      console.log(await asOwner(story.service, `SELECT lane,id,due_at,attempts,handled_at,outcome FROM network_inbox WHERE convert_from(body,'UTF8') LIKE '%' || $1 || '%'`, [c['reference']]));
      console.log(story.service.logLines.slice(at).join(''));
      await story.settle();
      console.log('after another drain', (await story.transaction(id))['status']);
      break;
    }
  }
});
