/**
 * Draws the README's picture of the dashboard: the home page over a year of demo data.
 *
 *     node tools/dashboard-picture.ts      writes docs/images/dashboard.png
 */
import { writeFileSync } from 'node:fs';
import { openPage } from '../test/harness/browser.ts';
import { openDashboardWorld } from '../test/harness/dashboard-world.ts';
import { fillWithDemoData } from '../test/harness/demo-data.ts';
import { SettableClock } from '../test/harness/settable-clock.ts';

const path = new URL('../docs/images/dashboard.png', import.meta.url);
// The same picture each time: the data's seed and its last moment, a busy afternoon.
const period = { seed: 'the picture', days: 90, payments: 2_400, end: new Date('2026-11-20T16:40:00Z') };

const world = await openDashboardWorld({ clock: new SettableClock(period.end) });
const owner = await world.signIn('owner');
await fillWithDemoData(world.service, world.business.test.merchant, period);
// As high as the charts.
await using opened = await openPage({ visitor: owner, width: 1280, height: 1180 });
await opened.page.goto(world.at('?range=30'));
writeFileSync(path, await opened.page.screenshot());
await world.stop();
