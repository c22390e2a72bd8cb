import { failureFigure, type Part } from './harness/part.ts';
import type { Service } from './harness/service.ts';
import { whole } from './harness/statistics.ts';
import { describeRatio, measureAlternately } from './harness/alternate.ts';
import { pay } from './whole.ts';

const members = 10;
const memberPercentage = 5;
const payers = 32;
const seconds = 5;
const rounds = 4;
const warmUpSeconds = 5;
const ratioMin = 0.7;

export const shared: Part = {
  name: 'shared',
  title: 'Payments that are shared',
  description:
    `Whole payments, ${payers} at once, as in “Whole payments”: shared among a group of ${members} sub-accounts, which ` +
    'is ten shares to store and ten accounts more to book on, beside the same without a group. Both alternate; the ratio is ' +
    'the median over the rounds.',
  async run(bench) {
    const service = await bench.startService();
    const group = await createGroup(service);
    let failures = 0;
    const booked = async (subAccountGroupId: string | undefined, forSeconds = seconds): Promise<number> => {
      const load = { payers, seconds: forSeconds, ...(subAccountGroupId !== undefined && { subAccountGroupId }) };
      const result = await pay(service, load);
      await service.settled();
      failures += result.failures;
      return result.paymentsPerSecond;
    };
    await booked(undefined, warmUpSeconds);
    await booked(group, warmUpSeconds);
    const comparison = await measureAlternately(
      rounds,
      { measured: () => booked(group), base: () => booked(undefined) },
      (round, { measured, base }) =>
        bench.log(`  round ${round}: ${whole(measured)}/s shared, ${whole(base)}/s not shared`),
    );
    await service.stop();
    return {
      figures: [
        { label: `Payments a second, shared among ${members}`, value: whole(comparison.measured) },
        { label: 'Payments a second, not shared', value: whole(comparison.base) },
        {
          label: 'Ratio',
          value: describeRatio(comparison),
          aim: { text: `at least ${ratioMin}`, isMet: comparison.ratio >= ratioMin },
        },
        failureFigure('Payments not booked', failures),
      ],
      bars: [
        {
          label: `payments, ${members} shares ÷ none`,
          value: comparison.ratio,
          aim: ratioMin,
          better: 'higher',
          unit: 'ratio',
        },
      ],
    };
  },
};

/** Returns the group's id. */
async function createGroup(service: Service): Promise<string> {
  const ids: string[] = [];
  for (let number = 1; number <= members; number += 1) {
    const fields = {
      name: `Stall ${number}`,
      percentage: memberPercentage,
      settlement_code: 'wave',
      account_number: String(7_010_000 + number),
    };
    ids.push((await service.post<{ id: string }>('/v1/sub-accounts', fields)).id);
  }
  const group = {
    name: 'Market',
    members: ids.map((id) => ({ sub_account: id, percentage: memberPercentage })),
  };
  return (await service.post<{ id: string }>('/v1/sub-account-groups', group)).id;
}
