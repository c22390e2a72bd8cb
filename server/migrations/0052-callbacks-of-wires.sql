-- How a simulated network's callback is sent: the wire that renders its headers, and the method. The defaults are what an earlier
-- release sends.
ALTER TABLE simulator.callbacks ADD COLUMN wire text NOT NULL DEFAULT 'private';
ALTER TABLE simulator.callbacks ADD COLUMN method text NOT NULL DEFAULT 'POST';
