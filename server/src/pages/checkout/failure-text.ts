import type { ChargeFailureCode } from '../../payments/charge.ts';

/** Why an attempt failed, worded for the payer. The merchant reads the charge's `failure_reason`. */
export function failureText(code: ChargeFailureCode): string {
  switch (code) {
    case 'declined_by_payer':
      return 'You declined it on your phone.';
    case 'insufficient_funds':
      return 'There is not enough money in your wallet.';
    case 'limit_exceeded':
      return 'The amount is above what your wallet may pay.';
    case 'account_not_found':
      return 'There is no wallet with this number.';
    case 'account_blocked':
      return 'Your wallet is blocked. Ask the network.';
    case 'code_wrong':
      return 'The code was wrong too many times.';
    case 'expired':
      return 'You did not approve it in time.';
    case 'cancelled':
      return 'It was cancelled before you approved it.';
    case 'network_unavailable':
      return 'The network takes no payments just now.';
    case 'refused_by_network':
      return 'The network gave no reason.';
    case 'money_returned':
      return 'What you sent was not what was asked for, and it was returned to you.';
    case 'not_paid':
      return 'No money came from you.';
  }
}
