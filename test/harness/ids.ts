/** SQL for a UUID of version 7 from these expressions for the time and the number. */
export function idSql(time: string, number: string): string {
  const ms = `lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint), 12, '0')`;
  return `(${ms} || '70008000' || lpad(to_hex(${number}), 12, '0'))::uuid`;
}
