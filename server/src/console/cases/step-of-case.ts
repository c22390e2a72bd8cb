import type { OperatorAct } from '../../audit/operator-act.ts';
import type { ResolutionStep } from '../../cases/resolution.ts';
import type { Merchant } from '../../merchants/merchant.ts';

/** What the audit log says of a step towards the resolution of a case, by the console or by a command. */
export function stepOfCase({ businessId, testMode }: Merchant, step: ResolutionStep): OperatorAct {
  return {
    ...{ action: `cases.${step.step}`, businessId, testMode, object: { type: 'case', id: step.caseId } },
    sent: { resolution: step.resolution, evidence: step.evidence },
  };
}
