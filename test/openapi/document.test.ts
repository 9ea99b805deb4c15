/** `npm run openapi` names what a description lacks, so that a new resource is described completely. */
import { type Handler, Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { expect, onTestFinished, test } from 'vitest';
import { describeApi, describedRoutes } from '../../openapi/document.ts';
import { describeOperation } from '../../openapi/operation.ts';
import { findResources } from '../../openapi/resources.ts';
import { findRoutes } from '../../openapi/routes.ts';
import { app } from '../../src/app.ts';
import { VERSION_PATH } from '../../src/http/urls.ts';
import type { AuthenticatedDefinition } from '../../src/operation/definition.ts';
import { operation } from '../../src/operation/operation.ts';
import type { OperationDescription } from '../../src/operation/resource-description.ts';
import { PetQuery } from '../../src/pets/schemas.ts';

const SERVERS = [{ url: 'https://a.example/v1', description: '', 'x-internal': false }];
const resources = await findResources();

/** The description of the app with further operations. */
function describe(operations: Record<string, OperationDescription> = {}) {
  return describeApi(SERVERS, [{ tags: [], operations }, ...resources.toReversed()], '1.0.0');
}

/** Adds a route to the app for the rest of a test. */
function addRoute(method: string, path: string, handlers: Handler[]) {
  const { length } = app.routes;
  onTestFinished(() => void app.routes.splice(length));
  app.routes.push(...handlers.map((handler) => ({ basePath: '/', method, path, handler })));
}

const ABOUT: OperationDescription = { tags: [''], summary: '', description: '', responses: {} };
const listToys = operation({ operationId: 'listToys', scope: 'read' });
const countToys = operation({ operationId: 'countToys', public: true });
const TOYS = `${VERSION_PATH}/toys`;
const handler = () => new Response();

test('tags are in the order of the routes, whatever the order of the resources', () => {
  const names = describe().tags?.map(({ name }) => name);
  const inUse = describedRoutes(resources).flatMap(({ about }) => about.tags);
  expect(names).toEqual([...new Set(inUse)]);
});

test('the routes of one path stand together, as in the description', () => {
  addRoute('PUT', '/v1/pets', [listToys, handler]);
  const paths = findRoutes().map(({ path }) => path);
  expect(paths.slice(0, 4)).toEqual(['/pets', '/pets', '/pets', '/pets/{petId}']);
});

test('npm run openapi fails when a description has no route', () => {
  expect(() => describe({ listToys: ABOUT })).toThrow('the description of listToys has no route');
});

test.each([
  ['GET', TOYS, [listToys, handler], 'the operation listToys has no description of its own'],
  ['GET', '/v0/toys', [listToys, handler], `GET /v0/toys is outside ${VERSION_PATH}`],
  ['DELETE', '/health', [listToys, handler], `DELETE /health is outside ${VERSION_PATH}`],
  ['GET', TOYS, [handler, listToys], `GET ${TOYS} must begin with one operation(…)`],
  ['GET', TOYS, [listToys, listToys], `GET ${TOYS} must begin with one operation(…)`],
  ['POST', TOYS, [countToys, handler], `POST ${TOYS} is public, and must be a GET`],
])('npm run openapi fails for the route %s %s', (method, path, handlers, problem) => {
  addRoute(method, path, handlers);
  expect(() => describe()).toThrow(problem);
});

test('a route may have other middleware, an error handler and a pattern', () => {
  const toys = new Hono()
    .basePath('/toys')
    .use(csrf())
    .get('/:toyId{[0-9]+}', csrf(), listToys, handler)
    .onError(handler);
  const { routes } = new Hono().get('/v1/*', csrf()).route(VERSION_PATH, toys);
  const { length } = app.routes;
  onTestFinished(() => void app.routes.splice(length));
  app.routes.push(...routes);
  const definition = { operationId: 'listToys', scope: 'read' };
  expect(findRoutes().at(-1)).toEqual({ method: 'get', path: '/toys/{toyId}', definition });
});

test('npm run openapi fails when an error code has no example', () => {
  const withoutErrors = resources.map(({ errors: _, ...others }) => others);
  expect(() => describeApi(SERVERS, withoutErrors, '1.0.0')).toThrow(
    'no operation describes the error code pet_not_found',
  );
});

test('npm run openapi fails for a deprecated list, whose two links need one description', () => {
  const deprecation = { since: '1970-01-01', sunset: '2030-12-05', successor: '/toys' };
  const list: AuthenticatedDefinition = {
    operationId: 'listToys',
    scope: 'read',
    query: PetQuery,
    deprecation,
  };
  expect(() => describeOperation(list, ABOUT)).toThrow('both links of listToys');
});
