/** The host that serves an environment. Its address is in wrangler.toml as `BASE_URL`. */

/** The part of an environment's configuration that says where it is served. */
type Config = {
  name?: string;
  workers_dev?: boolean | undefined;
  routes?: (string | { pattern?: string })[] | undefined;
  vars: Record<string, unknown>;
};

/**
 * The host of `BASE_URL`: either that of the only route, or the worker's name at workers.dev. Wrangler takes the host of a
 * route over from other workers without asking, so no other route may be there by mistake.
 *
 * @throws Error unless exactly one of the two is set.
 */
export function hostOf({ name, workers_dev, routes = [], vars }: Config): string {
  const { host } = new URL(String(vars.BASE_URL));
  const hosts = routes.map((route) => (typeof route === 'string' ? route : route.pattern));
  if (!workers_dev && hosts.join() === host) return host;
  if (workers_dev && hosts.length === 0 && isAtWorkersDev(host, name)) return host;
  const either = `the only route must be the host of BASE_URL, ${host}`;
  throw new Error(
    `wrangler.toml: ${either}; or, with workers_dev and no route, ${name}'s name there`,
  );
}

/** Whether it is `<worker>.<account's name>.workers.dev`. */
function isAtWorkersDev(host: string, worker = ''): boolean {
  const [first, , ...rest] = host.split('.');
  return first === worker && rest.join('.') === 'workers.dev';
}
