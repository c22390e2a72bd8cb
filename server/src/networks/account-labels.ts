/** Accounts beyond these share a label, so that no number of businesses makes a scrape grow without bound. */
const ownAccountsMax = 100;
const others = 'others';

/**
 * The label of an account in metrics: the operator's by their names, businesses' own by theirs up to a number of them. An
 * account keeps its label for as long as the process runs.
 */
export class AccountLabels {
  readonly #own = new Set<string>();

  labelOf({ railAccount, merchantId }: { railAccount: string; merchantId: string | null }): string {
    if (merchantId === null || this.#own.has(railAccount)) return railAccount;
    if (this.#own.size >= ownAccountsMax) return others;
    this.#own.add(railAccount);
    return railAccount;
  }
}
