/** The operations of the app, read from its routes. */
import { app } from '../src/app.ts';
import type { OperationDefinition } from '../src/definition.ts';
import { VERSION_PATH } from '../src/http/responses.ts';

/** A route of the app, as OpenAPI writes it: method in lower case, path without the version, such as `/pets/{petId}`. */
type Route = { method: string; path: string; definition: OperationDefinition };

/**
 * The routes in the order of the description, in which the methods of a path stand together.
 *
 * @throws Error when a route is outside `/v1`, does not begin with exactly one `operation(…)`, or is public but not a GET.
 */
export function findRoutes(): Route[] {
  // `/*` is the path of the middleware. `GET /health` is not described, because it is the same as `GET /v1/health`.
  const routes = app.routes.filter(
    ({ method, path }) => path !== '/*' && `${method} ${path}` !== 'GET /health',
  );
  // `app.routes` has an entry for each middleware and each handler of a route, in their order.
  const byName = Map.groupBy(routes, ({ method, path }) => `${method} ${path}`);
  const found = Array.from(byName, ([name, handlers]) => {
    // Only the middleware `operation(…)` has a definition.
    const [definition, ...others]: (OperationDefinition | undefined)[] = handlers.map(
      ({ handler }) => Object(handler).definition,
    );
    if (!definition || others.some(Boolean))
      throw new Error(`${name} must begin with one operation(…)`);
    const [method = '', path = ''] = name.split(' ');
    if (!path.startsWith(`${VERSION_PATH}/`)) throw new Error(`${name} is outside ${VERSION_PATH}`);
    if (definition.public && method !== 'GET')
      throw new Error(`${name} is public, and must be a GET`);
    return {
      method: method.toLowerCase(),
      path: path.slice(VERSION_PATH.length).replaceAll(/:(\w+)/g, '{$1}'),
      definition,
    };
  });
  return [...Map.groupBy(found, ({ path }) => path).values()].flat();
}
