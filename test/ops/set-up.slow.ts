/** The commands of docs/set-up.md, pasted with the real wrangler, against a fake of Cloudflare's API. Needs sh and curl. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { expect, onTestFinished, test } from 'vitest';
import {
  unstable_splitSqlQuery as splitSql,
  unstable_getMiniflareWorkerOptions as workerOptionsOf,
} from 'wrangler';
import { type Clone, cloneProject } from './clone.ts';
import { type Cloudflare, startCloudflare } from './fake-cloudflare.ts';
import { readBlocks, setUp } from './set-up.ts';

/** Serves the deployed version of a worker, with its rows and keys, over https. Returns the port. */
async function serve(clone: Clone, cloudflare: Cloudflare, environment: string) {
  const [version] = cloudflare.find(`animal-store-${environment}`).versions;
  if (!version) throw new Error('a version must be deployed');
  const { id, code, resources } = version;
  const texts = resources.bindings.map(({ name, text = '' }) => [name, text]);
  const { workerOptions } = workerOptionsOf(clone.path('wrangler.toml'), environment);
  const { modulesRules: _, assets: __, ...options } = workerOptions;
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      ...options,
      https: true,
      modules: [{ type: 'ESModule', path: 'index.js', contents: code }],
      bindings: { ...Object.fromEntries(texts), CF_VERSION_METADATA: { id } },
    }),
  );
  onTestFinished(() => runtime.dispose());
  // This environment has created the newest ones.
  const [stored, namespace] = [cloudflare.databases.at(-1), cloudflare.namespaces.at(-1)];
  const database = await runtime.getD1Database('DB');
  for (const sql of stored?.sql.flatMap(splitSql) ?? []) await database.prepare(sql).run();
  const keys = await runtime.getKVNamespace('API_KEYS');
  for (const [name, value] of namespace?.values ?? []) await keys.put(name, value);
  return Number((await runtime.ready).port);
}

test('the commands of docs/set-up.md lead from a fresh clone to a first answer', async () => {
  const cloudflare = await startCloudflare();
  onTestFinished(cloudflare.close);
  const clone = await cloneProject(cloudflare);
  onTestFinished(clone.remove);
  const hosts = {
    staging: 'animal-store-staging.anna.workers.dev',
    production: 'api.animals.test',
  };
  for (const [environment, host] of Object.entries(hosts)) {
    await setUp(clone, environment, host);
    const [, , , request = []] = readBlocks(environment, host);
    const [create = '', curl = ''] = request;
    const yes = environment === 'production' ? '--yes' : '';
    const key = await clone.run(`${create.replace(')', ` ${yes})`)}; echo $KEY`);
    // In place of the DNS and the certificate.
    const curlrc = `insecure\nconnect-to = "::127.0.0.1:${await serve(clone, cloudflare, environment)}"\n`;
    writeFileSync(clone.path('.wrangler/.curlrc'), curlrc);
    const settings = { CURL_HOME: clone.path('.wrangler'), KEY: key.trim() };
    expect(await clone.run(curl, settings)).toMatch(/^HTTP\/\S+ 200[\s\S]*\[\]\n$/);
  }
  expect(cloudflare.hosts).toEqual(new Map([['api.animals.test', 'animal-store-production']]));
  expect([...cloudflare.atWorkersDev]).toEqual(['animal-store-staging']);
  const tests = globSync('test/**/*.test.ts').filter((file) =>
    readFileSync(file, 'utf8').includes('wrangler.toml'),
  );
  // The checks, and the tests that read wrangler.toml, pass after a set-up, too.
  await clone.run(`npm run check; npx vitest run --project test ${tests.join(' ')}`);
});
