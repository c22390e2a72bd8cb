import assert from 'node:assert/strict';
import { listCases } from '../cases/list-cases.ts';
import type { Case } from '../cases/case.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { confirmResolution, listChoices, proposeResolution, type ResolveContext } from '../cases/resolve-case.ts';
import { AppError } from '../api/app-error.ts';
import type { Charge } from './charge.ts';
import { createPaymentWorld } from './payment-world.corpus.ts';
import { createChargeResolvers } from './resolve-case.ts';

export type ResolveWorld = Awaited<ReturnType<typeof createResolveWorld>>;

/** The payments' world with two operators in it. */
export async function createResolveWorld() {
  const world = await createPaymentWorld();
  const context: ResolveContext = {
    db: world.db,
    clock: world.clock,
    newId: world.context.newId,
    resolvers: createChargeResolvers(world.context),
    isOperator: () => Promise.resolve(true),
  };
  const [awa, lamin] = [context.newId(), context.newId()];

  const caseOf = async (charge: Charge, kind: Case['kind'], reference?: string): Promise<Case> => {
    const cases = await listCases(world.db, null, 10_000, null);
    const about = cases.filter((found) => found.subjectId === charge.id && found.kind === kind);
    const found = about.find((one) => reference === undefined || one.reference === reference);
    return found ?? assert.fail(`no case of ${kind}`);
  };
  const propose = async (found: Case, resolution: string, reported: ReportedMoney | null = null): Promise<void> => {
    const evidence = 'The network says so in ticket 4711.';
    await proposeResolution(context, { caseId: found.id, resolution, evidence, reported, operatorId: awa });
  };
  const confirm = async (found: Case): Promise<void> => {
    await confirmResolution(context, { caseId: found.id, operatorId: lamin });
  };
  return {
    ...world,
    caseOf,
    propose,
    confirm,
    /** Proposed by one, confirmed by the other. */
    resolve: async (found: Case, resolution: string, reported: ReportedMoney | null = null): Promise<void> => {
      await propose(found, resolution, reported);
      await confirm(found);
    },
    /** What is possible for a case just now. */
    possible: async (found: Case): Promise<string[]> =>
      (await listChoices(context, found)).filter(({ refusal }) => refusal === null).map(({ resolution }) => resolution),
    statusOf: async (found: Case): Promise<string> => {
      const cases = await listCases(world.db, null, 10_000, null);
      const { status, resolution } = cases.find(({ id }) => id === found.id) ?? assert.fail();
      return resolution === null ? status : `${status} ${resolution}`;
    },
    refused: (work: Promise<unknown>, message: RegExp): Promise<void> =>
      assert.rejects(work, (error) => {
        assert.ok(error instanceof AppError, String(error));
        assert.equal(error.code, 'state_conflict');
        assert.match(error.message, message);
        return true;
      }),
  };
}
