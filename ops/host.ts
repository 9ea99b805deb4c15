/** The host that serves an environment. */

/** The settings of wrangler.toml that decide it. */
type Config = {
  name?: string | undefined;
  workers_dev?: boolean | undefined;
  routes?: (string | { pattern?: string })[] | undefined;
  vars?: Record<string, unknown> | undefined;
};

/**
 * Returns the host of `BASE_URL`. It must be the only route or, without a route, the worker's at workers.dev: wrangler takes
 * the host of any other route from the worker that has it, without asking.
 *
 * @throws Error unless exactly one of the two holds.
 */
export function requireOwnHost({ name, workers_dev, routes = [], vars }: Config): string {
  const [, host = ''] = /^https:\/\/([^/]+)\/v1$/.exec(String(vars?.BASE_URL)) ?? [];
  const [first, ...others] = routes.map((each) => (typeof each === 'string' ? each : each.pattern));
  // A route needs a zone of the account, and workers.dev is none.
  const isOnlyRoute = first === host && others.length === 0 && !host.endsWith('.workers.dev');
  if (!workers_dev && isOnlyRoute) return host;
  // `<worker>.<account's name>.workers.dev`
  const [worker, , ...rest] = host.split('.');
  const isAtWorkersDev = worker === name && rest.join('.') === 'workers.dev';
  if (workers_dev && routes.length === 0 && isAtWorkersDev) return host;
  const rule =
    'wrangler.toml: the only route must be the host of BASE_URL; with workers_dev there must be no route';
  throw new Error(`${rule}, and BASE_URL must be https://${name}.ACCOUNT.workers.dev/v1`);
}
