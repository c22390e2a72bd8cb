/** Somebody who runs the service and decides what a rule may not decide. One credential for each person. */
export interface Operator {
  id: string;
  name: string;
  createdAt: Date;
  revokedAt: Date | null;
}
