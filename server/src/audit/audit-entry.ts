import type { FieldChange } from './masked-fields.ts';

/** The business of entries about the installation itself: operators, networks, verification. */
export const installationId = '00000000-0000-0000-0000-000000000000';

/** One action of a person: who, what, and from where. */
export interface AuditEntry {
  businessId: string;
  id: string;
  /** Null where it concerns both environments. */
  testMode: boolean | null;
  actorType: 'member' | 'operator' | 'system' | 'key';
  /** The login, or the API key; null for the system. */
  actorId: string | null;
  /** As the person was called then. */
  actorName: string;
  /** `refunds.create`: what was done, in the words of `accounts/permissions.ts`. */
  action: string;
  /** `refused` is what somebody tried in vain, such as a sign-in with a wrong password. */
  result: 'done' | 'refused';
  objectType: string | null;
  objectId: string | null;
  changes: readonly FieldChange[];
  sessionId: string | null;
  requestId: string | null;
  address: string | null;
  createdAt: Date;
}

/** Actions of somebody who looks at something or takes it away, and changes nothing. */
export const readingActions: readonly string[] = ['data.read', 'list.export', 'numbers.show'];
