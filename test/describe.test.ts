/** `npm run openapi` names what a description lacks, so that a new resource is described completely. */
import { expect, test } from 'vitest';
import { describeOperation, type ResourceDescription } from '../openapi/describe.ts';
import { describeApi } from '../openapi/document.ts';
import { errorHeaders } from '../openapi/headers.ts';
import { resource as health } from '../openapi/resources/health.ts';
import { resource as pets } from '../openapi/resources/pets.ts';
import { RESOURCES } from '../ops/openapi.ts';
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
])('npm run openapi fails when pets have %s', (_, change, problem) => {
  const servers = [{ url: 'https://a.example/v1', description: '', 'x-internal': false }];
  const resources = RESOURCES.map((each) => (each === pets ? { ...pets, ...change } : each));
  expect(() => describeApi(servers, resources, '1.0.0')).toThrow(problem);
});

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
