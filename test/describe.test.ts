/** `npm run openapi` names what a description lacks, so that a new resource is described completely. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorAdvice } from '../openapi/advice.ts';
import { describeOperation, type ResourceDescription } from '../openapi/describe.ts';
import { describeApi } from '../openapi/document.ts';
import { errorHeaders } from '../openapi/headers.ts';
import { repetitionOf } from '../openapi/repetitions.ts';
import { resource as health } from '../openapi/resources/health.ts';
import { resource as pets } from '../openapi/resources/pets.ts';
import { findResources } from '../openapi/resources.ts';
import { tablesOf, withTables } from '../openapi/tables.ts';
import { createPet } from '../src/pets/schema.ts';

const { '/pets': _, ...otherPaths } = pets.paths;
const { '/health': path } = health.paths;

test.each<[string, Partial<ResourceDescription>, string]>([
  ['a field without a description', { fields: {} }, 'the field name of NewPet has no description'],
  [
    'a parameter without a description',
    { parameters: {} },
    'the parameter petId has no description',
  ],
  ['a route without a description', { paths: otherPaths }, 'but not both: GET /pets listPets'],
  [
    'a description without a route',
    { paths: { ...pets.paths, '/toys': { ...path } } },
    'not both: GET /toys',
  ],
])('npm run openapi fails when pets have %s', async (_, change, problem) => {
  const servers = [{ url: 'https://a.example/v1', description: '', 'x-internal': false }];
  const found = await findResources();
  const resources = found.map((each) => (each === pets ? { ...pets, ...change } : each));
  expect(() => describeApi(servers, resources, '1.0.0')).toThrow(problem);
});

test('npm run openapi names an error code without advice', async () => {
  const found = await findResources();
  const resources = found.map((each) => (each === pets ? { ...pets, advice: {} } : each));
  expect(() => errorAdvice(resources)).toThrow('no description has advice for the error code pet');
});

test('npm run openapi names a PATCH or DELETE without a line about repetitions', () => {
  expect(() => repetitionOf('delete', 'deleteToy')).toThrow('has no line for deleteToy');
});

test('npm run openapi names a document without the comments of a table', () => {
  const text = '<!-- errors -->\n<!-- /errors -->';
  expect(() => withTables('README.md', text, { toys: '' })).toThrow('README.md has no <!-- toys');
});

test.each(['README.md', 'client/README.md'])(
  '%s has the tables of the description',
  async (name) => {
    const text = readFileSync(name, 'utf8');
    const tables = tablesOf(await findResources())[name] ?? {};
    expect(Object.keys(tables)).toHaveLength(2);
    expect(withTables(name, text, tables)).toBe(text);
  },
);

test('npm run openapi fails when a header of an error is not described', () => {
  expect(() => errorHeaders([{ headers: { 'X-Toys': '1' } }])).toThrow('describe X-Toys');
});

test.each([
  { invalid: {}, problem: 'createPet must have an example of an invalid request' },
  {
    invalid: { json: { name: 'Rex', categoryId: 1n } },
    problem: 'the example of createPet must be invalid',
  },
])('npm run openapi fails with "$problem"', ({ invalid, problem }) => {
  const success = { status: 201, description: '' } as const;
  const about = { tag: '', summary: '', description: '', success, invalid };
  expect(() => describeOperation(createPet, about)).toThrow(problem);
});
