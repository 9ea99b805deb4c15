/** The host that serves an environment. */

/** The settings of wrangler.toml that decide it. */
type Config = {
  name?: string | undefined;
  workers_dev?: boolean | undefined;
  routes?: (string | { pattern?: string })[] | undefined;
  vars?: Record<string, unknown> | undefined;
};

/**
 * The host of `BASE_URL`, which is that of the only route, or the worker's name at workers.dev. Wrangler takes the host of
 * any other route over from other workers without asking.
 *
 * @throws Error unless exactly one of the two is set.
 */
export function hostOf({ name, workers_dev, routes = [], vars }: Config): string {
  const [, host = ''] = /^https:\/\/([^/]+)\/v1$/.exec(String(vars?.BASE_URL)) ?? [];
  const [first, ...others] = routes.map((each) => (typeof each === 'string' ? each : each.pattern));
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
