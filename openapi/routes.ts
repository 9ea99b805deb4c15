/** The operations of the app, read from its routes. */
import { findTargetHandler, isMiddleware } from 'hono/utils/handler';
import { app } from '../src/app.ts';
import { VERSION_PATH } from '../src/http/urls.ts';
import type { OperationDefinition } from '../src/operation/definition.ts';
import { definitions } from '../src/operation/operation.ts';

/**
 * A route of the app, as OpenAPI writes it: method in lower case, path without the version, such
 * as `/pets/{petId}`.
 */
export type Route = { method: string; path: string; definition: OperationDefinition };

/**
 * The routes in the order of the description, in which the methods of a path stand together.
 *
 * @throws Error when a route is outside `/v1`, does not begin with exactly one `operation(…)`, or
 *   is public but not a GET.
 */
export function findRoutes(): Route[] {
  // `app.routes` has an entry for each middleware and each handler, in their order. A sub-app
  // with `onError` wraps them.
  const entries = app.routes.map(({ handler, ...route }) => {
    const target = findTargetHandler(handler);
    return { ...route, isMiddleware: isMiddleware(target), definition: definitions.get(target) };
  });
  // Middleware other than `operation(…)` may stand anywhere.
  const steps = entries.filter((entry) => entry.definition || !entry.isMiddleware);
  const byName = Map.groupBy(steps, ({ method, path }) => `${method} ${path}`);
  // It is not described, because it is the same as `GET /v1/health`.
  byName.delete('GET /health');
  const found = Array.from(byName, ([name, [first, ...others]]) => {
    if (!first?.definition || others.some(({ definition }) => definition))
      throw new Error(`${name} must begin with one operation(…)`);
    const { method, path, definition } = first;
    if (!path.startsWith(`${VERSION_PATH}/`)) throw new Error(`${name} is outside ${VERSION_PATH}`);
    if (definition.public && method !== 'GET')
      throw new Error(`${name} is public, and must be a GET`);
    return {
      method: method.toLowerCase(),
      // A parameter is `:petId`, or `:petId{[0-9]+}` with a pattern.
      path: path.slice(VERSION_PATH.length).replaceAll(/:(\w+)(\{[^}]+\})?/g, '{$1}'),
      definition,
    };
  });
  return [...Map.groupBy(found, ({ path }) => path).values()].flat();
}
