/**
 * `npm run openapi` names what a description lacks, so that a new resource is described completely.
 */
import { Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod/mini';
import { describeApi } from '../../openapi/document.ts';
import { errorHeaders } from '../../openapi/headers.ts';
import { describeOperation } from '../../openapi/operation.ts';
import { findResources } from '../../openapi/resources.ts';
import { findRoutes } from '../../openapi/routes.ts';
import { app } from '../../src/app.ts';
import { operation } from '../../src/operation/operation.ts';
import type { OperationDescription } from '../../src/operation/resource-description.ts';
import { NewPet, PetQuery } from '../../src/pets/schemas.ts';

const SERVERS = [{ url: 'https://a.example/v1', description: '', 'x-internal': false }];
const resources = await findResources();

/** The description of the app with further operations. */
const describe = (others: Record<string, OperationDescription> = {}, known = resources) =>
  describeApi(SERVERS, [{ tags: [], operations: others }, ...known], '1.0.0');

/** Adds routes to the app for the rest of a test. */
function addRoutes(routes: typeof app.routes) {
  const { length } = app.routes;
  onTestFinished(() => void app.routes.splice(length));
  app.routes.push(...routes);
}

const ABOUT: OperationDescription = { tags: [''], summary: '', description: '', responses: {} };
const listToys = operation({ operationId: 'listToys', scope: 'read' });
const countToys = operation({ operationId: 'countToys', public: true });
const handler = () => new Response();

test.each([
  ['GET', '/v1/toys', [listToys, handler], 'the operation listToys has no description of its own'],
  ['GET', '/v10/toys', [listToys, handler], 'GET /v10/toys is outside /v1'],
  ['DELETE', '/health', [listToys, handler], 'DELETE /health is outside /v1'],
  ['GET', '/v1/toys', [handler, listToys], 'GET /v1/toys must begin with one operation(…)'],
  ['GET', '/v1/toys', [listToys, listToys], 'GET /v1/toys must begin with one operation(…)'],
  ['DELETE', '/v1/toys', [countToys, handler], 'DELETE /v1/toys is public, and must be a GET'],
])('npm run openapi fails for the route %s %s', (method, path, handlers, problem) => {
  addRoutes(handlers.map((handler) => ({ basePath: '/', method, path, handler })));
  expect(() => describe()).toThrow(new Error(problem));
});

test('a route may have other middleware, an error handler and a pattern', () => {
  const toys = new Hono()
    .basePath('/toys')
    .use(csrf())
    .get('/:toyId{[0-9]+}', csrf(), listToys, handler)
    .onError(handler);
  addRoutes(new Hono().get('/v1/*', csrf()).route('/v1', toys).routes);
  expect(findRoutes().at(-1)).toMatchObject({ method: 'get', path: '/toys/{toyId}' });
});

const ADD_TOY = { operationId: 'addToy', scope: 'write', effect: 'the toy was added' } as const;
const DEPRECATION = { since: '1970-01-01', sunset: '2030-12-05', successor: '/toys' };

test.each([
  [
    'addToy accepts an Idempotency-Key, so it must describe a 201',
    { ...ADD_TOY, json: NewPet, acceptsIdempotencyKey: true },
  ],
  [
    'describe both links of listToys in one header: next page and successor',
    { operationId: 'listToys', scope: 'read', query: PetQuery, deprecation: DEPRECATION },
  ],
  [
    'getToy must reject {} as the value of toyId',
    { operationId: 'getToy', public: true, param: z.object({ toyId: z.unknown() }) },
  ],
] as const)('npm run openapi fails: %s', (problem, definition) => {
  expect(() => describeOperation(definition, ABOUT)).toThrow(new Error(problem));
});

test('npm run openapi fails without a route, and without an example or header of an error', () => {
  const noRoute = new Error('the description of listToys has no route');
  expect(() => describe({ listToys: ABOUT })).toThrow(noRoute);
  const withoutErrors = resources.map(({ errors: _, ...others }) => others);
  const noExample = new Error('no operation describes the error code pet_not_found');
  expect(() => describe({}, withoutErrors)).toThrow(noExample);
  const noHeader = new Error('ERROR_HEADERS in openapi/headers.ts must describe X-Toy');
  expect(() => errorHeaders([{ headers: { 'X-Toy': '' } }])).toThrow(noHeader);
});
