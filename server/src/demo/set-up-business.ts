import { createCustomer } from '../customers/manage-customers.ts';
import type { Customer } from '../customers/customer.ts';
import type { Queryable } from '../kit/db.ts';
import { dalasi } from '../kit/money.ts';
import { createLink } from '../links/manage-links.ts';
import type { PaymentLink } from '../links/payment-link.ts';
import { setFeeRule } from '../merchants/manage-rules.ts';
import { allNetworks } from '../merchants/rules.ts';
import { createGroup } from '../sub-accounts/manage-groups.ts';
import { createSubAccount } from '../sub-accounts/manage-sub-accounts.ts';
import type { SubAccount, SubAccountGroup } from '../sub-accounts/sub-account.ts';
import { createTerminal } from '../terminals/manage-terminals.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import { counterNames, customersCount, groupName, linkTitles, partnerNames } from './catalogue.ts';
import type { DemoWorld } from './demo-world.ts';

/** What the demo business has besides payments. */
export interface DemoRecords {
  customers: readonly Customer[];
  links: readonly PaymentLink[];
  terminals: readonly VirtualTerminal[];
  subAccounts: readonly SubAccount[];
  group: SubAccountGroup;
}

const collectionFee = { percentHundredths: 150n, fixedMinor: 0n, minimumMinor: dalasi, maximumMinor: 100n * dalasi };
const transferFee = { percentHundredths: 0n, fixedMinor: 5n * dalasi, minimumMinor: 0n, maximumMinor: null };

/** The fees of the demo business. A merchant's settings are read once, so they come before everything else. */
export async function setFees(db: Queryable, merchant: { id: string }): Promise<void> {
  const owner = { merchantId: merchant.id };
  await setFeeRule(db, owner, { ...collectionFee, operation: 'collection', network: allNetworks });
  await setFeeRule(db, owner, { ...transferFee, operation: 'transfer', network: allNetworks });
}

/** Creates the customers, links, counters, sub-accounts and the group, as on the business's first day. */
export async function setUpBusiness({ db, money, merchant, time }: DemoWorld): Promise<DemoRecords> {
  const caller = { merchantId: merchant.id, testMode: true };
  return db.withTransaction(async (tx) => {
    const customers: Customer[] = [];
    for (let number = 1; number <= customersCount; number += 1) {
      time.moveBy(60_000);
      const name = `Customer ${number}`;
      const email = number % 3 === 0 ? `customer-${number}@example.com` : null;
      const phone = number % 4 === 0 ? null : numberOf(number);
      const request = { name, email, phone, metadata: {}, distinct: false };
      customers.push((await createCustomer(tx, money, caller, request)).customer);
    }
    const links: PaymentLink[] = [];
    for (const { title, dalasi: amount } of linkTitles) {
      time.moveBy(60_000);
      const amountMinor = amount === null ? null : BigInt(amount) * dalasi;
      const fields = { title, amountMinor, ...(amount === null ? { minAmountMinor: 50n * dalasi } : {}) };
      links.push(await createLink(tx, money, merchant, { fields, prefix: '' }));
    }
    const terminals: VirtualTerminal[] = [];
    for (const name of counterNames) terminals.push(await createTerminal(tx, money, caller, { name, chatNumbers: [] }));
    const subAccounts = partnerNames.map((name, index) => {
      const settlementCode = ['wave', 'afrimoney', 'aps'][index] ?? 'wave';
      const percentHundredths = [2_000n, 1_500n, 1_000n][index] ?? 1_000n;
      const request = { name, percentHundredths, settlementCode, accountNumber: numberOf(900 + index), prefix: '' };
      return createSubAccount(tx, money, caller, request);
    });
    const members = subAccounts
      .slice(0, 2)
      .map(({ id }, index) => ({ subAccountId: id, percentHundredths: index === 0 ? 2_500n : 1_000n }));
    const group = await createGroup(tx, money, caller, { name: groupName, members, prefix: '' });
    return { customers, links, terminals, subAccounts, group };
  });
}

/** A number of this customer's own, whose payments wait for a tap in the simulator. */
export function numberOf(customer: number): string {
  return `7${String((customer * 7_919) % 100_000).padStart(5, '0')}${customer % 10}`;
}
