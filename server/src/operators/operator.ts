/** A person who runs the service and resolves cases, with a credential of their own. */
export interface Operator {
  id: string;
  name: string;
  createdAt: Date;
  revokedAt: Date | null;
}
