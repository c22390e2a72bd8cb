/** The configuration of an account at one network, as an operator writes it. */
export const gsmaSettings = {
  networks: [
    {
      network: 'aps',
      collects: true,
      paysOut: true,
      refunds: 'parts',
      refundHours: 48,
      institution: { type: 'organisationid', identifier: 'aps' },
    },
  ],
  statuses: { completed: 'succeeded', pending: 'pending', reversed: 'reversed', declined: 'declined_by_payer' },
  errors: { accountBlocked: 'account_blocked' },
  identifier: { key: 'msisdn', prefix: '+220', digits: 'old' },
  ownParty: { key: 'accountid', value: '2999' },
  amounts: { step: 'bututs', decimals: 'as_needed' },
  fees: 'theirs',
  callbacks: true,
  contentHash: true,
  channel: 'Web',
  lookUpSeconds: [5, 10],
  recheckSeconds: [60],
  notFoundIsFinalSeconds: 30,
};
