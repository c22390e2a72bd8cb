/** SQL for an id of version 7: of the moment and the number that these two expressions say. */
export function idSql(time: string, number: string): string {
  const ms = `lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint), 12, '0')`;
  return `(${ms} || '70008000' || lpad(to_hex(${number}), 12, '0'))::uuid`;
}
