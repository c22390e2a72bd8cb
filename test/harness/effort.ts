/**
 * How much a test tries: `usual` in `npm test`, `long` in `npm run test:long`, which runs the test files that use this
 * and those named `*.long.test.ts`.
 */
export function effort<Value>({ usual, long }: { usual: Value; long: Value }): Value {
  return process.env['TEST_EFFORT'] === 'long' ? long : usual;
}
