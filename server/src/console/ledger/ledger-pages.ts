import { html } from '../../kit/html.ts';
import { insertVerification, listVerifications } from '../../ledger/verifications.ts';
import type { StoredVerification } from '../../ledger/verifications.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { audit } from '../audit/record.ts';
import { formRoutes, listRoute } from '../console-route.ts';
import type { ConsoleRoute } from '../console-route.ts';
import { runVerification } from './verification.ts';

const shownMax = 100;

const list = listRoute<StoredVerification>({
  path: '/ledger',
  section: 'ledger',
  action: 'ledger.read',
  title: 'Ledger',
  noun: ['verification', 'verifications'],
  filters: [],
  async read({ money }) {
    const rows = await listVerifications(money.db, shownMax);
    return { rows, total: rows.length, nextCursor: null };
  },
  columns: [
    { header: 'Time', isMain: true, cell: ({ verifiedAt }, { now }) => shownTime(verifiedAt, now) },
    {
      header: 'Result',
      isMain: true,
      cell: ({ isCorrect }) =>
        stateMark(
          isCorrect ? { tone: 'good', icon: 'check', text: 'Right' } : { tone: 'bad', icon: 'warning', text: 'Wrong' },
        ),
    },
    { header: 'Movements', isNumber: true, cell: ({ movements }) => movements.toLocaleString('en-GB') },
    { header: 'Accounts', isNumber: true, cell: ({ accounts }) => accounts.toLocaleString('en-GB') },
    { header: 'Problem', cell: ({ problem }) => problem ?? '' },
  ],
  href: () => '/ledger',
  empty: {
    text: 'The ledger was not verified here yet.',
    action: { href: '/ledger/verify', text: 'Verify the ledger', needs: 'ledger.verify' },
  },
  buttons: [{ href: '/ledger/verify', text: 'Verify the ledger', needs: 'ledger.verify' }],
});

const verify = formRoutes<null>({
  path: '/ledger/verify',
  section: 'ledger',
  action: 'ledger.verify',
  load: async () => null,
  view: () => ({
    heading: 'Verify the ledger?',
    effect: html`<p>Every balance of all merchants is computed again, and all held money is checked. Nothing is changed.</p>`,
    button: 'Verify the ledger',
    back: { href: '/ledger', text: 'Back to the ledger' },
  }),
  async submit(services, visit) {
    const { money } = services;
    const result = await runVerification(money.db, money);
    await money.db.withTransaction(async (tx) => {
      tx.send(insertVerification(result));
      const object = { type: 'verification', id: result.id };
      audit(tx, services, visit, { action: 'ledger.verify', object, sent: { is_correct: result.isCorrect } });
    });
    return '/ledger';
  },
});

export const ledgerPages: readonly ConsoleRoute[] = [list, ...verify];
