-- What is not kept for ever goes by primary key, because ids of version 7 count up with time. Messages on simulated
-- phones are led by their number, so they need an index.

CREATE INDEX chat_messages_created_idx ON simulator.chat_messages (created_at);
