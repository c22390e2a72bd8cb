-- The request that caused an event, by the `x-request-id` of its answer; null where a network, a schedule or the time did.
-- Events that were written before have none. Adding a column without a default rewrites nothing.

ALTER TABLE events ADD COLUMN request_id text;
