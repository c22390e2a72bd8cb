import { createMember } from '../../server/src/accounts/create-member.ts';
import type { AccountContext } from '../../server/src/accounts/context.ts';
import { hashPassword } from '../../server/src/accounts/password.ts';
import { enableTotp, prepareTotp } from '../../server/src/accounts/second-factor.ts';
import type { Secrets } from '../../server/src/configuration/secrets.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import type { Random } from '../../server/src/kit/random.ts';
import { updateTransferApproval } from '../../server/src/merchants/transfer-approval.ts';
import { pairAuthenticator } from '../harness/authenticator.ts';
import type { Member } from './dashboard.ts';
import { publicUrl } from './machines.ts';

const password = 'mango pirogue laterite drum';
/** Above it, a payout that somebody asks for needs a second person. */
const approveAboveMinor = 8_000n;

/** An owner and somebody of finance, each with an authenticator app. */
export async function hireMembers(
  db: Database,
  businessId: string,
  { clock, random, secrets }: { clock: Clock; random: Random; secrets: Secrets },
): Promise<Member[]> {
  const { sealer, pepper } = secrets;
  const context: AccountContext = {
    ...{ db, clock, random, newId: () => uuidV7(clock, random), sealer, pepper, publicUrl: () => publicUrl },
    sendMail: () => {},
  };
  const passwordHash = await hashPassword(random, password);
  const members: Member[] = [];
  for (const role of ['owner', 'finance'] as const) {
    const email = `${role}@example.gm`;
    const login = { email, name: `Awa ${role}`, passwordHash, businessId, grant: { role, terminalIds: [] } };
    const account = await db.withTransaction((tx) => createMember(tx, context, login));
    const secret = await db.withTransaction((tx) => prepareTotp(tx, context, account));
    const prepared = { ...account, totpSecret: Buffer.alloc(0) };
    const code = await pairAuthenticator({
      ...{ secret: secret.text, clock },
      enable: (typed) => db.withTransaction((tx) => enableTotp(tx, context, { account: prepared, code: typed })),
    });
    members.push({ email, password, code });
  }
  await db.withTransaction(async (tx) => tx.send(updateTransferApproval(businessId, approveAboveMinor)));
  return members;
}
