-- A simulated network may ask for its code on the phone, whatever the shape of the payment.
ALTER TABLE simulator.sessions DROP CONSTRAINT sessions_code_check;
ALTER TABLE simulator.sessions
  ADD CONSTRAINT sessions_code_check CHECK ((shape <> 'code' OR code IS NOT NULL) AND code_attempts_left >= 0) NOT VALID;
