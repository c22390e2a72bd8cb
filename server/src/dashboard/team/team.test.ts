import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient } from '../../../../test/harness/api-client.ts';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { SettableClock } from '../../../../test/harness/settable-clock.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { listTeam } from '../../accounts/team.ts';
import { addMs } from '../../kit/clock.ts';
import { sendForm } from '../patterns/form.corpus.ts';

let world: DashboardWorld;
let owner: Member;
const clock = new SettableClock(new Date());

before(async () => {
  world = await openDashboardWorld({ clock });
  owner = await world.signIn('owner');
});

after(() => world.stop());

/** Sends a form with a new code of the app, of which there are three in a minute. */
function send(member: Member, address: string, typed: Readonly<Record<string, string>>) {
  clock.set(addMs(clock.now(), 60_000));
  return sendForm(member, address, { ...typed, second_factor: member.code() });
}

const invite = (email: string) => send(owner, world.at('/settings/team/invite'), { email, role: 'finance' });

test('an address is invited five times in a row, then once after each wait, which gets longer', async () => {
  const mailsTo = async (email: string) =>
    (await asOwner(world.service, 'SELECT FROM mails WHERE recipient = $1', [email])).length;
  for (let sent = 0; sent < 5; sent += 1) assert.equal((await invite('Pestered@example.gm')).status, 303);
  assert.equal((await invite('pestered@example.gm')).status, 303, 'begins the wait of half a minute');
  assert.equal((await invite('pestered@example.gm')).status, 303, 'after a minute');
  const refused = await invite('pestered@example.gm');
  assert.equal(refused.status, 429);
  assert.match(refused.text, /Too many invitations to this address\. Wait a minute, then try again\./);
  assert.equal(await mailsTo('pestered@example.gm'), 7);
  const business = await world.service.onboard('Another shop');
  const stranger = await world.signIn('owner', { business });
  const address = `${world.service.url}/dashboard/test/${business.test.merchant.shortId}/settings/team/invite`;
  const typed = { email: 'pestered@example.gm', role: 'finance', second_factor: stranger.code() };
  assert.equal((await sendForm(stranger, address, typed)).status, 303, 'another owner has tries of their own');
  assert.equal((await invite('other@example.gm')).status, 303);
});

test('who removes a person or changes their role sees which API keys that person goes on having', async () => {
  const developer = await world.signIn('developer', { name: 'Lamin' });
  const fields = { name: 'Nightly job', 'scopes.read': 'true' };
  const created = await send(developer, world.at('/keys/new', 'live'), fields);
  const key = /sk_live_[0-9A-Za-z]{38}/.exec(created.text)?.[0] ?? '';
  const path = `/settings/team/${developer.account.id}`;
  for (const change of ['role', 'remove']) {
    const page = await (await owner.get(world.at(`${path}/${change}`))).text();
    assert.match(page, new RegExp(`Nightly job[^]{0,40}, <code>sk_live_…${key.slice(-4)}</code>`), change);
  }
  const other = await world.signIn('developer', { name: 'Awa' });
  const ofOther = await (await owner.get(world.at(`/settings/team/${other.account.id}/remove`))).text();
  assert.doesNotMatch(ofOther, /Nightly job/);
  assert.equal((await send(owner, world.at(`${path}/remove`), {})).status, 303);
  const { businessId } = world.business.live.merchant;
  assert.ok((await listTeam(world.accounts.db, businessId)).every(({ name }) => name !== 'Lamin'));
  assert.equal((await createApiClient(world.service.url, key).get('/v1/payments')).status, 200);
  assert.equal((await developer.get(world.at('/payments'))).status, 404);
});
