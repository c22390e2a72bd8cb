-- The records that a request concerned: the one that its path names, and the one that its response is. A record's page finds
-- its API calls by them.
ALTER TABLE request_log ADD COLUMN path_object_id uuid;
ALTER TABLE request_log ADD COLUMN response_object_id uuid;

CREATE INDEX request_log_path_object_idx ON request_log (merchant_id, path_object_id) WHERE path_object_id IS NOT NULL;
CREATE INDEX request_log_response_object_idx ON request_log (merchant_id, response_object_id)
  WHERE response_object_id IS NOT NULL;
