-- Who changed what: one row for each action of a person, written in the transaction of its effect and never changed.
CREATE TABLE audit_entries (
  -- The nil UUID where an operator acted on the installation itself.
  business_id uuid NOT NULL,
  id uuid NOT NULL,
  -- Null where it concerns both environments.
  test_mode boolean,
  actor_type text NOT NULL,
  actor_id uuid,
  actor_name text NOT NULL,
  action text NOT NULL,
  object_type text,
  object_id text,
  -- [{field, before, after}], secrets and numbers masked.
  changes json NOT NULL,
  session_id uuid,
  request_id text,
  address text,
  created_at timestamptz NOT NULL,
  CONSTRAINT audit_entries_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT audit_entries_actor_type_check CHECK (actor_type IN ('member', 'operator', 'system'))
);

CREATE INDEX audit_entries_object_idx ON audit_entries (business_id, object_id, id) WHERE object_id IS NOT NULL;
