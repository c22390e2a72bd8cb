import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { assertStrongPassword } from './password.ts';

const judge = (password: string) =>
  assertStrongPassword(password, { path: 'password', known: ['Awa', 'awa@example.gm'] });
const strong = 'x9Kq!vT3z@Lm8#Rb2$Yc7%Wd4^Ue1&Hf';

test('a long password is judged by its beginning alone, so that judging it takes no longer', async () => {
  const weakBeginning = 'a'.repeat(strong.length) + strong;
  await assert.rejects(
    judge(weakBeginning),
    (error) => error instanceof AppError && /easy to guess/.test(error.message),
  );
  await judge(strong);
  await judge(strong + 'a'.repeat(128 - strong.length));
  await judge('mango pirogue laterite drum');
});
