/**
 * The worker with faults in plain workerd, with a socket of its own. The proxy of `wrangler dev` is not in between, so
 * the worker sees when clients disconnect.
 */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { unstable_getMiniflareWorkerOptions as workerOptionsOf } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { generateKey } from '../../src/auth/keys/format.ts';
import { type KeyRecord, recordName } from '../../src/auth/keys/record.ts';
import type { Calls, Faults } from './worker.ts';

const MIGRATIONS = join(PROJECT_ROOT, 'migrations');
const WORKER = 'direct';

/** Starts the worker for a test file, in the local environment. */
export function startWorker() {
  let port = 0;
  let miniflare: Miniflare;
  let bindings: Env;
  const lines: string[] = [];

  async function control(faults?: Faults): Promise<Calls> {
    const init = faults && { method: 'PUT', body: JSON.stringify(faults) };
    const response = await fetch(`http://127.0.0.1:${port}/__faults`, init);
    return response.json() as Promise<Calls>;
  }

  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, 'worker.ts')],
      ...{ bundle: true, minify: true, format: 'esm', write: false },
    });
    const { workerOptions } = workerOptionsOf(join(PROJECT_ROOT, 'wrangler.toml'));
    const { modulesRules: _, assets: __, ...options } = workerOptions;
    const script = outputFiles[0]?.text ?? '';
    miniflare = new Miniflare(
      convertV4MiniflareOptions({
        ...{ ...options, name: WORKER, modules: true, script, unsafeDirectSockets: [{ port: 0 }] },
        handleStructuredLogs: ({ message }) => lines.push(message),
      }),
    );
    await miniflare.ready;
    port = Number((await miniflare.unsafeGetDirectURL(WORKER)).port);
    bindings = await miniflare.getBindings<Env>(WORKER);
    for (const file of (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort()) {
      const sql = await readFile(join(MIGRATIONS, file), 'utf8');
      // D1 takes each line for a statement.
      await bindings.DB.exec(sql.replaceAll(/--.*$/gm, '').replaceAll('\n', ' '));
    }
  });
  beforeEach(async () => {
    await control({});
    await bindings.DB.exec('DELETE FROM pets');
    lines.length = 0;
  });
  afterAll(() => miniflare.dispose());

  return {
    port: () => port,
    fault: control,
    calls: () => control(),
    /** Resolves when the calls are as expected. */
    until: (isReached: (calls: Calls) => boolean) =>
      expect.poll(async () => isReached(await control()), { interval: 5 }).toBe(true),
    /** Puts a key's record into KV, for a new key unless one is given, and returns the key. */
    async issueKey(record: Partial<KeyRecord> = {}, key = generateKey('local')): Promise<string> {
      const complete = {
        id: randomUUID(),
        label: 'test',
        createdAt: '2026-11-20T00:00:00Z',
        ...record,
      };
      await bindings.API_KEYS.put(await recordName(key), JSON.stringify(complete));
      return key;
    },
    /** The number of animals in D1. */
    pets: () => bindings.DB.prepare('SELECT count(*) AS n FROM pets').first<number>('n'),
    /** The parsed log lines since the test began. */
    logLines: () => lines.map((line): Record<string, unknown> => JSON.parse(line)),
  };
}
