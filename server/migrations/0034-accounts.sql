-- A login of a person. Merchants' people and the operator's are separate realms: one address may have a login in each.
CREATE TABLE accounts (
  id uuid NOT NULL CONSTRAINT accounts_pkey PRIMARY KEY,
  realm text NOT NULL CONSTRAINT accounts_realm_check CHECK (realm IN ('merchant', 'operator')),
  -- In small letters.
  email text NOT NULL,
  name text NOT NULL,
  -- Argon2id in the PHC format; null until the invited person has chosen one.
  password_hash text,
  email_verified_at timestamptz,
  -- Sealed; in force once confirmed_at is set.
  totp_secret bytea,
  totp_confirmed_at timestamptz,
  -- The time step of the last accepted code: a code is accepted once.
  totp_last_step bigint,
  created_at timestamptz NOT NULL,
  CONSTRAINT accounts_email_key UNIQUE (realm, email)
);

-- Recovery codes of the second factor, hashed; each is deleted when it is used.
CREATE TABLE account_recovery_codes (
  account_id uuid NOT NULL,
  code_hash bytea NOT NULL,
  CONSTRAINT account_recovery_codes_pkey PRIMARY KEY (account_id, code_hash)
);

-- Passkeys of accounts.
CREATE TABLE account_passkeys (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  -- As the authenticator names it, in base64url.
  credential_id text NOT NULL CONSTRAINT account_passkeys_credential_key UNIQUE,
  public_key bytea NOT NULL,
  sign_count bigint NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  CONSTRAINT account_passkeys_pkey PRIMARY KEY (account_id, id)
);

-- Sessions of signed-in browsers. The token is stored as its hash only.
CREATE TABLE account_sessions (
  token_hash bytea NOT NULL CONSTRAINT account_sessions_pkey PRIMARY KEY,
  id uuid NOT NULL CONSTRAINT account_sessions_id_key UNIQUE,
  account_id uuid NOT NULL,
  -- The browser and system as it names itself, and the address that it was last seen at.
  device text NOT NULL,
  address text NOT NULL,
  -- False between the password and the second factor.
  is_complete boolean NOT NULL,
  second_factor_at timestamptz,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX account_sessions_account_idx ON account_sessions (account_id);
CREATE INDEX account_sessions_expires_idx ON account_sessions (expires_at);

-- One-time links and challenges: deleted when they are used. The token is stored as its hash only.
CREATE TABLE account_tokens (
  token_hash bytea NOT NULL CONSTRAINT account_tokens_pkey PRIMARY KEY,
  purpose text NOT NULL CONSTRAINT account_tokens_purpose_check
    CHECK (purpose IN ('verify_email', 'reset_password', 'set_password', 'passkey')),
  -- Null for a challenge of somebody who is not signed in.
  account_id uuid,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX account_tokens_account_idx ON account_tokens (account_id);
CREATE INDEX account_tokens_expires_idx ON account_tokens (expires_at);

-- Failed sign-ins and codes by account and device, whether or not the account exists.
CREATE TABLE account_attempts (
  key_hash bytea NOT NULL CONSTRAINT account_attempts_pkey PRIMARY KEY,
  failures bigint NOT NULL,
  last_failed_at timestamptz NOT NULL,
  blocked_until timestamptz
);
CREATE INDEX account_attempts_failed_idx ON account_attempts (last_failed_at);

-- Who works for a business, and as what.
CREATE TABLE memberships (
  business_id uuid NOT NULL,
  account_id uuid NOT NULL,
  role text NOT NULL CONSTRAINT memberships_role_check CHECK (role IN ('owner', 'developer', 'finance', 'cashier')),
  -- Of a cashier: the counters, in either environment, that they work at.
  terminal_ids uuid[] NOT NULL DEFAULT '{}',
  role_changed_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT memberships_pkey PRIMARY KEY (business_id, account_id)
);
CREATE INDEX memberships_account_idx ON memberships (account_id);

-- Invitations to a team that nobody has accepted yet. The token is stored as its hash only.
CREATE TABLE invitations (
  business_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL CONSTRAINT invitations_role_check CHECK (role IN ('owner', 'developer', 'finance', 'cashier')),
  terminal_ids uuid[] NOT NULL DEFAULT '{}',
  token_hash bytea NOT NULL CONSTRAINT invitations_token_key UNIQUE,
  invited_by uuid NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT invitations_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT invitations_email_key UNIQUE (business_id, email)
);

-- What an owner has decided for the whole business.
ALTER TABLE businesses
  -- Bututs; a refund above it asks for the second factor. Null: none does.
  ADD COLUMN refund_limit bigint,
  ADD COLUMN live_requested_at timestamptz,
  ADD COLUMN live_approved_at timestamptz,
  ADD COLUMN suspended_at timestamptz;

-- How an operator signs in to the console, and what they may do there.
ALTER TABLE operators
  ADD COLUMN account_id uuid,
  ADD COLUMN role text;
ALTER TABLE operators
  ADD CONSTRAINT operators_role_check CHECK (role IN ('support', 'finance', 'admin')) NOT VALID;
