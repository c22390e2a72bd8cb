import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeConnectionUrl, passwordOf, userOf } from './connection-url.ts';

test('user, password and database are changed and everything else stays', () => {
  const change = { user: 'a b', password: 'p@ss/w:rd', database: 'other' };
  assert.equal(
    changeConnectionUrl('postgresql://x:y@db.example:6432/one?sslmode=verify-full', change),
    'postgresql://a%20b:p%40ss%2Fw%3Ard@db.example:6432/other?sslmode=verify-full',
  );
});

test('a URL that names a socket keeps it', () => {
  assert.equal(
    changeConnectionUrl('postgresql:///one?host=/run/postgresql', { user: 'app', password: 'secret' }),
    'postgresql:///one?host=%2Frun%2Fpostgresql&user=app&password=secret',
  );
});

test('user and password are read from the authority or the query', () => {
  assert.equal(userOf('postgresql://a%20b:c@db/one'), 'a b');
  assert.equal(userOf('postgresql:///one?host=/run&user=app'), 'app');
  assert.equal(passwordOf('postgresql://x:p%40ss@db/one'), 'p@ss');
  assert.equal(passwordOf('postgresql:///one?host=/run&password=p%40ss'), 'p@ss');
  assert.equal(passwordOf('postgresql://x@db/one'), undefined);
});
