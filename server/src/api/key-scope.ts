/**
 * What an API key may do. `payout`: whatever takes money from the merchant's balance or decides where it goes, refunds
 * included, because a refund of a payment by an accomplice takes money as a transfer does. `charge`: every other change.
 * `read`: the rest. None includes another (docs/api.md, "API keys").
 */
export const keyScopes = ['read', 'charge', 'payout'] as const;

export type KeyScope = (typeof keyScopes)[number];
