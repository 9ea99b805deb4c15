/** `npm run rename`, on the texts of all files of the project. */
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import {
  CURRENT,
  parseName,
  parsePrefix,
  readTracked,
  rejectUsed,
  rename,
} from '../../ops/rename.ts';
import { generateKey } from '../../src/auth/key-format.ts';
import { copyProject } from './project.ts';

/** Joined here, because names that the code has already are rejected. */
const NEW = { name: ['renamed', 'by', 'test'].join('-'), prefix: 'renamed9' };
const project = copyProject();

/** The texts of all files, by path, with the new names. */
const renamed = () =>
  Array.from(readTracked(), ([path, text]) => [path, rename(text, CURRENT, NEW)] as const);

test('no file has the old name or prefix afterwards', () => {
  const words = CURRENT.name.split('-');
  const type = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const name = `(?<![a-z0-9])${words.join('[- ]')}(?![a-z0-9])`;
  const old = [
    new RegExp(`${type}(?![a-z])`),
    new RegExp(name),
    new RegExp(`\\b${CURRENT.prefix}_`),
  ];
  expect(
    renamed()
      .filter(([, text]) => old.some((each) => each.test(text)))
      .map(([path]) => path),
  ).toEqual([]);
});

test('renaming back restores every file', () => {
  const restored = renamed().map(([path, text]) => [path, rename(text, NEW, CURRENT)] as const);
  expect(new Map(restored)).toEqual(readTracked());
});

test('names of packages, workers, hosts, types and sentences are replaced', () => {
  const text =
    'some-thing-client createSomeThing SomeThing.x api.some-thing.example Some thing, some thing; awesome-thing some-things SomeThings';
  expect(rename(text, { ...CURRENT, name: 'some-thing' }, { ...CURRENT, name: 'other-word' })).toBe(
    'other-word-client createOtherWord OtherWord.x api.other-word.example Other word, other word; awesome-thing some-things SomeThings',
  );
});

test('a key gets the checksum of its new prefix, and a key with an invalid checksum keeps it', () => {
  const [valid, invalid] = [generateKey('staging'), `${LOCAL_KEY.slice(0, -1)}_`];
  expect(rename(valid, CURRENT, NEW)).toMatch(new RegExp(`^${NEW.prefix}_staging_\\w{36}$`));
  expect(rename(rename(valid, CURRENT, NEW), NEW, CURRENT)).toBe(valid);
  expect(rename(valid, CURRENT, NEW).slice(-6)).not.toBe(valid.slice(-6));
  expect(rename(invalid, CURRENT, NEW).slice(-6)).toBe(invalid.slice(-6));
});

test('a prefix is replaced where it begins a word, also after the \\b of a regular expression', () => {
  const text = '\\bsome_(?:staging) "some_" awesome_';
  expect(rename(text, { ...CURRENT, prefix: 'some' }, { ...CURRENT, prefix: 'other' })).toBe(
    '\\bother_(?:staging) "other_" awesome_',
  );
});

test.each(['Book-shop', '1shop', 'shop-', 'book--shop', 'book-2', 'b'.repeat(51), ''])(
  'the name "%s" is invalid',
  (name) => expect(() => parseName(name)).toThrow('lower-case letters'),
);

test.each(['Book', 'b', 'book_', 'b'.repeat(21), '9k'])('the prefix "%s" is invalid', (prefix) => {
  expect(() => parsePrefix(prefix)).toThrow('2 to 20 lower-case letters');
});

test.each([
  [{ ...CURRENT, name: 'pets' }, 'pets is already used in '],
  [{ ...CURRENT, prefix: 'idempotency' }, 'idempotency_ is already used in '],
])('%j is rejected, because the code has the word', (names, message) => {
  expect(() => rejectUsed(readTracked(), names)).toThrow(message);
  expect(() => rejectUsed(readTracked(), NEW)).not.toThrow();
});

test('the command needs both names, and a git repository', async () => {
  const missing = await project.run('rename.ts', [NEW.name]);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    "error: missing required argument 'prefix'\n",
  ]);
  const { code, stderr } = await project.run('rename.ts', [NEW.name, NEW.prefix]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: git is required\. .*\n$/)]);
});
