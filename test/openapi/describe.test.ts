/** `npm run openapi` names what a description lacks, so that a new resource is described completely. */
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod/mini';
import { describeOperation, type ResourceDescription } from '../../openapi/describe.ts';
import { describeApi } from '../../openapi/document.ts';
import { findResources } from '../../openapi/find-resources.ts';
import { errorHeaders } from '../../openapi/headers.ts';
import { resource as health } from '../../openapi/resources/health.ts';
import { resource as pets } from '../../openapi/resources/pets.ts';
import { app } from '../../src/app.ts';
import { ApiError } from '../../src/errors.ts';
import { createPet, listPets } from '../../src/pets/operations.ts';

const SERVERS = [{ url: 'https://a.example/v1', description: '', 'x-internal': false }];
const SUCCESS = { status: 201, description: '' } as const;
const ABOUT = { tag: '', summary: '', description: '', success: SUCCESS };

const { '/health': path } = health.paths;

test.each<[string, Partial<ResourceDescription>, string]>([
  ['a field without a description', { fields: {} }, 'the field name of NewPet has no description'],
  [
    'a parameter without a description',
    { parameters: {} },
    'the parameter petId has no description',
  ],
  [
    'a description without a route',
    { paths: { ...pets.paths, '/toys': { ...path } } },
    'GET /v1/toys has no route',
  ],
])('npm run openapi fails when pets have %s', async (_, change, problem) => {
  const found = await findResources();
  const resources = found.map((each) => (each === pets ? { ...pets, ...change } : each));
  expect(() => describeApi(SERVERS, resources, '1.0.0')).toThrow(problem);
});

test('npm run openapi fails when a route is not described, whatever its prefix', async () => {
  const resources = await findResources();
  const [route] = app.routes;
  onTestFinished(() => void app.routes.pop());
  app.routes.push({ ...Object(route), method: 'GET', path: '/v2/pets' });
  const problem = 'GET /v2/pets is not described';
  expect(() => describeApi(SERVERS, resources, '1.0.0')).toThrow(problem);
});

test('npm run openapi fails when a parameter of a query has no description', async () => {
  const query = z.strictObject({ sort: z.optional(z.enum(['name'])) });
  const about = { ...ABOUT, invalid: { query: { sort: 'age' } } };
  const get = describeOperation({ ...listPets, query }, about);
  const paths = { ...pets.paths, '/pets': { ...pets.paths['/pets'], get } };
  const found = await findResources();
  const resources = found.map((each) => (each === pets ? { ...pets, paths } : each));
  const problem = 'the parameter sort has no description';
  expect(() => describeApi(SERVERS, resources, '1.0.0')).toThrow(problem);
});

test("an operation's own error is described beside the common errors of its status", () => {
  const about = { ...ABOUT, invalid: { json: { name: 1 } } };
  const errors = [new ApiError('invalid_request', 'The name is taken.')];
  const common = describeOperation(createPet, about).operation.responses;
  const both = describeOperation(createPet, { ...about, errors }).operation.responses;
  expect(both).toMatchObject({ ...common });
  expect(both).toHaveProperty(['400', 'headers', 'X-D1-Bookmark']);
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
  expect(() => describeOperation(createPet, { ...ABOUT, invalid })).toThrow(problem);
});
