/** How long a client waits for a list under load, at each worker, with a local D1 and KV. */
import { REQUESTS, send } from './race.ts';
import { buildAll, inRounds, WORKERS, withServers } from './servers.ts';
import { median, quantile, show, table } from './statistics.ts';

const PETS = 10_000;
/** Of all clients together, to each worker in a round. */
const COUNT = 320;

/** Returns a table. */
export async function measureLoad(): Promise<string> {
  const bundles = await buildAll(Object.values(WORKERS));
  const rows: string[][] = [];
  await withServers(bundles, PETS, async (...servers) => {
    for (const clients of [1, 16, 64]) {
      const rounds = await inRounds(servers, ({ port }) =>
        send(port, REQUESTS.list, clients, COUNT / clients),
      );
      for (const share of [0.5, 0.99]) {
        const waits = rounds.map((each) => median(each.map((times) => quantile(times, share))));
        rows.push([`${clients}, p${share * 100}, ms`, ...waits.map(show)]);
      }
    }
  });
  return table(['clients', ...Object.keys(WORKERS)], rows);
}
