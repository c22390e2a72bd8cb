/** A person who runs the service and resolves cases, with a credential of their own. */
export interface Operator {
  id: string;
  name: string;
  createdAt: Date;
  revokedAt: Date | null;
}

/** A login of the console, with the operator as whom it acts: the same person who decides cases by command. */
export interface OperatorLogin {
  accountId: string;
  operatorId: string;
  /** Of `accounts/permissions.ts`. */
  role: string;
  name: string;
  revokedAt: Date | null;
}
