import type { Queryable } from '../../kit/db.ts';
import { rowBy, rowsBy, runBy, statementBy } from '../../kit/run-statement.ts';
import type { MerchantRole } from '../permissions.ts';

/** Who works for a business, and as what. */
export interface Membership {
  businessId: string;
  accountId: string;
  role: MerchantRole;
  /** Of a cashier: the counters that they work at. */
  terminalIds: string[];
  roleChangedAt: Date;
  createdAt: Date;
}

const membershipColumns = `memberships.business_id AS "businessId", memberships.account_id AS "accountId", memberships.role,
  memberships.terminal_ids AS "terminalIds", memberships.role_changed_at AS "roleChangedAt", memberships.created_at AS "createdAt"`;

/** A person is a member of a business once. */
export const insertMembership = runBy<[membership: Membership]>({
  name: 'memberships_insert',
  text: `INSERT INTO memberships (business_id, account_id, role, terminal_ids, role_changed_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (business_id, account_id) DO NOTHING`,
  values: (membership) => [
    membership.businessId,
    membership.accountId,
    membership.role,
    membership.terminalIds,
    membership.roleChangedAt,
    membership.createdAt,
  ],
});

export const findMembership = rowBy<Membership, [businessId: string, accountId: string]>({
  name: 'memberships_find',
  text: `SELECT ${membershipColumns} FROM memberships WHERE business_id = $1 AND account_id = $2`,
});

/** A person's role in a business, with what leads to its dashboard. */
export interface OwnMembership extends Membership {
  businessName: string;
  /** The short ids of its merchants. */
  testShortId: string;
  liveShortId: string;
  isLiveOpen: boolean;
}

/** A person's businesses, the first joined first. */
export const listMemberships = rowsBy<OwnMembership, [accountId: string]>({
  name: 'memberships_of_account',
  text: `SELECT ${membershipColumns}, businesses.name AS "businessName",
                businesses.live_approved_at IS NOT NULL AS "isLiveOpen",
                (SELECT short_id FROM merchants WHERE merchants.business_id = businesses.id AND test_mode) AS "testShortId",
                (SELECT short_id FROM merchants WHERE merchants.business_id = businesses.id AND NOT test_mode) AS "liveShortId"
           FROM memberships JOIN businesses ON businesses.id = memberships.business_id
          WHERE memberships.account_id = $1 ORDER BY memberships.created_at, memberships.business_id`,
});

/** A member as the team's page shows them. */
export interface TeamMember extends Membership {
  name: string;
  email: string;
  hasSecondFactor: boolean;
  lastSeenAt: Date | null;
}

export const listTeam = rowsBy<TeamMember, [businessId: string]>({
  name: 'memberships_of_business',
  text: `SELECT ${membershipColumns}, accounts.name, accounts.email,
                (accounts.totp_confirmed_at IS NOT NULL OR EXISTS (
                  SELECT FROM account_passkeys WHERE account_passkeys.account_id = accounts.id)) AS "hasSecondFactor",
                (SELECT max(last_seen_at) FROM account_sessions
                  WHERE account_sessions.account_id = accounts.id) AS "lastSeenAt"
           FROM memberships JOIN accounts ON accounts.id = memberships.account_id
          WHERE memberships.business_id = $1 ORDER BY memberships.created_at, memberships.account_id`,
});

/** Whom a business's warnings go to. */
export const listOwners = rowsBy<{ email: string; name: string; businessName: string }, [businessId: string]>({
  name: 'memberships_owners',
  text: `SELECT accounts.email, accounts.name, businesses.name AS "businessName"
           FROM memberships JOIN accounts ON accounts.id = memberships.account_id
           JOIN businesses ON businesses.id = memberships.business_id
          WHERE memberships.business_id = $1 AND memberships.role = 'owner' ORDER BY memberships.account_id`,
});

/** Locks a business's memberships, so that of two owners who remove each other one stays. */
export async function lockTeam(db: Queryable, businessId: string): Promise<Membership[]> {
  const locked = {
    name: 'memberships_lock',
    text: `SELECT ${membershipColumns} FROM memberships WHERE business_id = $1 ORDER BY account_id FOR UPDATE`,
    values: [businessId],
  };
  await db.run(locked);
  // Again: whoever has joined while it waited is not among the rows that it began to read.
  return db.rows<Membership>(locked);
}

export function updateRole(
  db: Queryable,
  membership: Pick<Membership, 'businessId' | 'accountId' | 'role' | 'terminalIds'>,
  at: Date,
): Promise<number> {
  return db.run({
    name: 'memberships_role',
    text: `UPDATE memberships SET role = $3, terminal_ids = $4, role_changed_at = $5
            WHERE business_id = $1 AND account_id = $2`,
    values: [membership.businessId, membership.accountId, membership.role, membership.terminalIds, at],
  });
}

export const deleteMembership = runBy<[businessId: string, accountId: string]>({
  name: 'memberships_delete',
  text: 'DELETE FROM memberships WHERE business_id = $1 AND account_id = $2',
});

/** An invitation that nobody has accepted yet. */
export interface Invitation {
  businessId: string;
  id: string;
  email: string;
  role: MerchantRole;
  terminalIds: string[];
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

const invitationColumns = `business_id AS "businessId", id, email, role, terminal_ids AS "terminalIds",
  invited_by AS "invitedBy", created_at AS "createdAt", expires_at AS "expiresAt"`;

/** Inviting the same address again replaces the earlier invitation, whose link ends. */
export const upsertInvitation = statementBy<[invitation: Invitation & { tokenHash: Uint8Array }]>({
  name: 'invitations_upsert',
  text: `INSERT INTO invitations (business_id, id, email, role, terminal_ids, token_hash, invited_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (business_id, email) DO UPDATE
         SET id = excluded.id, role = excluded.role, terminal_ids = excluded.terminal_ids, token_hash = excluded.token_hash,
             invited_by = excluded.invited_by, created_at = excluded.created_at, expires_at = excluded.expires_at`,
  values: (invitation) => [
    invitation.businessId,
    invitation.id,
    invitation.email,
    invitation.role,
    invitation.terminalIds,
    invitation.tokenHash,
    invitation.invitedBy,
    invitation.createdAt,
    invitation.expiresAt,
  ],
});

export const listInvitations = rowsBy<Invitation, [businessId: string]>({
  name: 'invitations_list',
  text: `SELECT ${invitationColumns} FROM invitations WHERE business_id = $1 ORDER BY id`,
});

/** The invitation of a link that is still valid. */
export const findInvitation = rowBy<Invitation & { businessName: string }, [tokenHash: Uint8Array, now: Date]>({
  name: 'invitations_find',
  text: `SELECT invitations.business_id AS "businessId", invitations.id, invitations.email, invitations.role,
                invitations.terminal_ids AS "terminalIds", invitations.invited_by AS "invitedBy",
                invitations.created_at AS "createdAt", invitations.expires_at AS "expiresAt",
                businesses.name AS "businessName"
           FROM invitations JOIN businesses ON businesses.id = invitations.business_id
          WHERE invitations.token_hash = $1 AND invitations.expires_at > $2`,
});

/** Ends the open invitations of somebody who may no longer invite. */
export const deleteInvitationsBy = statementBy<[businessId: string, invitedBy: string]>({
  name: 'invitations_delete_by',
  text: 'DELETE FROM invitations WHERE business_id = $1 AND invited_by = $2',
});

/** Ends the open invitations that an operator has sent to owners of whichever business. */
export const deleteInvitationsOfOperator = statementBy<[invitedBy: string]>({
  name: 'invitations_delete_of_operator',
  text: '-- across merchants: a business without a team has nobody else who invites\n DELETE FROM invitations WHERE invited_by = $1',
});

/** Uses an invitation up; returns 0 if it was used or withdrawn meanwhile. */
export const deleteInvitation = runBy<[businessId: string, id: string]>({
  name: 'invitations_delete',
  text: 'DELETE FROM invitations WHERE business_id = $1 AND id = $2',
});
