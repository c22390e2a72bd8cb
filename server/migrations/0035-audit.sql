-- Who changed what: a row for each sensitive action, written in its transaction. Never changed.
CREATE TABLE audit_entries (
  -- The business whose people see it; the nil id for what belongs to the operator alone.
  business_id uuid NOT NULL,
  id uuid NOT NULL,
  -- Null where the environment does not matter.
  test_mode boolean,
  -- account, operator, api_key, command or service.
  actor_type text NOT NULL,
  actor_id uuid,
  -- As they were called then.
  actor_name text NOT NULL,
  action text NOT NULL,
  object_type text NOT NULL,
  object_id text,
  result text NOT NULL CONSTRAINT audit_entries_result_check CHECK (result IN ('done', 'refused')),
  before jsonb,
  after jsonb,
  address text,
  session_id uuid,
  request_id text,
  created_at timestamptz NOT NULL,
  CONSTRAINT audit_entries_pkey PRIMARY KEY (business_id, id)
);
CREATE INDEX audit_entries_object_idx ON audit_entries (business_id, object_id, id);
CREATE INDEX audit_entries_actor_idx ON audit_entries (business_id, actor_id, id);
