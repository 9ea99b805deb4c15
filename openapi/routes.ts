/** The operations of the app, read from its routes. */
import { app } from '../src/app.ts';
import type { OperationDefinition } from '../src/definition.ts';
import { VERSION_PATH } from '../src/http/responses.ts';

/** A route of the app, in the words of the description: the method in lower case, the path without the version, as `/pets/{petId}`. */
type Route = { method: string; path: string; definition: OperationDefinition };

/**
 * The routes in the order of the description: those of one path stand together.
 *
 * @throws Error when a route is outside the version, does not begin with exactly one `operation(…)`, or is public but not a GET.
 */
export function findRoutes(): Route[] {
  // The middleware's path is `/*`. `/health` is the health check again, which is described with the version.
  const routes = app.routes.filter(
    ({ method, path }) => path !== '/*' && `${method} ${path}` !== 'GET /health',
  );
  // Hono lists the middleware of a route and its handler, in their order.
  const byName = Map.groupBy(routes, ({ method, path }) => `${method} ${path}`);
  const described = Array.from(byName, ([name, handlers]) => {
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
  return [...Map.groupBy(described, ({ path }) => path).values()].flat();
}
