import type { Static, TSchema } from 'typebox';
import type { ApiCall, InProcessApi } from '../http/in-process-api.ts';

/** A call without who calls: the visit's merchant, unless it names the business's other one. */
type VisitCall = Omit<ApiCall, 'caller' | 'requestId'> & Partial<Pick<ApiCall, 'caller'>>;

export type VisitApi = ReturnType<typeof visitApi>;

/** The API's routes as a visit calls them. */
export function visitApi(api: InProcessApi, by: Pick<ApiCall, 'caller' | 'requestId'>) {
  return {
    writing: api.writing,
    call: <Schema extends TSchema>(
      operationId: string,
      schema: Schema,
      call: VisitCall = {},
    ): Promise<Static<Schema>> => api.call(operationId, schema, { ...by, ...call }),
    list: <Schema extends TSchema>(operationId: string, schema: Schema, call: VisitCall = {}) =>
      api.list(operationId, schema, { ...by, ...call }),
    hasActed: (operationId: string, call: Pick<VisitCall, 'params' | 'idempotencyKey'>) =>
      api.hasActed(operationId, { ...by, ...call }),
    file: (operationId: string, call: VisitCall) => api.file(operationId, { ...by, ...call }),
    csv: (operationId: string, call: VisitCall) => api.csv(operationId, { ...by, ...call }),
  };
}
