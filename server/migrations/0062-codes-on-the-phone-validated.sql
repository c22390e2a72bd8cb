ALTER TABLE simulator.sessions VALIDATE CONSTRAINT sessions_code_check;
