import type { PromiseGroup } from './promise.ts';

const erasure = 'server/src/customers/payments.test.ts';

export const audit: PromiseGroup = {
  title: 'Audit and privacy',
  promises: [
    {
      id: 'A1',
      promise:
        'Each sensitive action leaves an audit entry in its transaction: who, what, result, address, request and time.',
      gates: ['change'],
      tests: {
        'test/stories/dashboard-audit.test.ts': [
          'each action leaves its audit entry in its transaction, and takes no field but its form’s',
          'an action without an audit entry changes nothing',
        ],
        'server/src/operator/command-audit.test.ts': [
          'every command that changes something leaves its audit entry, in words, with who ran it',
        ],
        'test/stories/audited-actions.test.ts': [
          'each sensitive action leaves an entry with actor, object, result, address, request and time',
          'each of them fails, and changes nothing, while its entry cannot be written',
        ],
      },
    },
    {
      id: 'A2',
      promise:
        'Who changes, deletes or reorders an entry of the audit log or the ledger, even as superuser, is found out.',
      gates: ['long', 'production'],
      tests: {
        'server/src/chain/chain.test.ts': [
          'a movement whose … was changed is named by its place',
          'a movement that was deleted is named by its place',
          'two movements that changed places are found at the first',
          'an audit entry of a business or of the installation that was changed is named',
          'a chain that was written again, cut off or deleted differs from the recorded heads',
          'chain verify exits with 1 and names what was changed, also against the hash of a log line',
        ],
      },
      benchmarks: ['verify'],
      metrics: ['dalasi_chain_oldest_unchained_seconds', 'dalasi_chain_heads_recorded_seconds'],
    },
    {
      id: 'A3',
      promise: 'From a payment, request, network reference or webhook all the others are found, for 12 months.',
      gates: ['change', 'long', 'production'],
      tests: {
        'test/stories/traceability.test.ts': [
          'from each id of … random payments after faults the dashboard reaches all its others',
        ],
        'server/src/request-log/request-log.test.ts': [
          'requests are stored for 30 days; what changed something stays for 13 months, without bodies',
        ],
        'server/src/dashboard/patterns/record-history.test.ts': [
          'a payment’s page names the request that made it, also when a killed process had not logged it',
          'a payment’s page has its calls, page views, network messages, movements, deliveries and refunds',
          'a record’s page has the API calls that made, read, changed or failed to change it, and no others',
        ],
        'server/src/webhooks/event-routes.test.ts': [
          'names the request that caused it, the merchant’s or a payer’s, and none for an expiry',
        ],
      },
      metrics: ['dalasi_request_log_dropped_total'],
    },
    {
      id: 'A4',
      promise: 'Numbers and addresses of people are masked in lists, events and logs.',
      gates: ['change'],
      tests: {
        'server/src/transfers/list-transfers.test.ts': [
          'shows only the last four digits of a number; the record by id shows it as it was sent',
        ],
        'test/stories/transfer-events.test.ts': [
          'an event has the transfer as it was then, with only the last four digits of the number',
        ],
        'test/stories/frame-secrets.test.ts': [
          'contain no key, no secret and no payer’s number but the one that the merchant sent',
          'and the metrics contain no secret, number or text of a payer, whatever fails',
        ],
        'server/src/audit/masked-fields.test.ts': [
          'the audit log shows what changed, without secrets, and of numbers and mails what identifies nobody',
        ],
        'test/stories/shown-numbers.test.ts': [
          '…: a person’s number stands there with its last four digits only',
          '…: shows owner and finance the whole number once, with an audit entry, and nobody else',
          'is not there for a developer in live, whom the files with whole numbers are refused too',
        ],
        'server/src/dashboard/forms.test.ts': [
          'a customer’s stored number is in no form: left empty it stays, typed it changes, ticked it goes',
        ],
      },
    },
    {
      id: 'A5',
      promise: 'A person’s data is exported within an hour and erased on request; the ledger stays as it was.',
      gates: ['change'],
      tests: {
        'server/src/payments/payer.test.ts': [
          'an open payment of a deleted customer is booked when paid, and carries no personal data',
        ],
        [erasure]: [
          'erases the person’s details in past payments, which keep amounts and the customer’s id',
          'leaves no details of the person in any table, nor in earlier events',
        ],
        'server/src/portal/records/customer-data.test.ts': [
          'the data of a customer is whole and readable by programs, by the dashboard and by command',
          'an erased customer leaves no personal data in these tables, and books that are right',
        ],
      },
    },
  ],
};
