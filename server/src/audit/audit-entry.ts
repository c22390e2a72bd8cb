import type { FieldChange } from './masked-fields.ts';

/** The business of entries about the installation itself: operators, networks, verification. */
export const installationId = '00000000-0000-0000-0000-000000000000';

/** One action of a person: who, what, and from where. */
export interface AuditEntry {
  businessId: string;
  id: string;
  /** Null where it concerns both environments. */
  testMode: boolean | null;
  actorType: 'member' | 'operator' | 'system';
  /** The login; null for the system. */
  actorId: string | null;
  /** As the person was called then. */
  actorName: string;
  /** `refunds.create`: what was done, in the words of `accounts/permissions.ts`. */
  action: string;
  objectType: string | null;
  objectId: string | null;
  changes: readonly FieldChange[];
  sessionId: string | null;
  requestId: string | null;
  address: string | null;
  createdAt: Date;
}
