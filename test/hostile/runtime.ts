/** The configuration of workerd for these tests: https://github.com/cloudflare/workerd/blob/main/src/workerd/server/workerd.capnp */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT, runWrangler } from '../../ops/wrangler.ts';

const MIGRATIONS = join(PROJECT_ROOT, 'migrations');

/** Built once for the test files of a process. */
let bundle: Promise<string> | undefined;

async function buildWorker(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  try {
    // The bundle is the same for every environment: `npm run bundle` checks that.
    await runWrangler(['deploy', '--dry-run', '--env', 'staging', '--outdir', folder]);
    return await readFile(join(folder, 'index.js'), 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Builds the worker as for a deployment, and writes it with its configuration to a folder. */
export async function writeRuntime(folder: string, environment: 'local' | 'staging') {
  bundle ??= buildWorker();
  await writeFile(join(folder, 'index.js'), await bundle);
  for (const name of ['worker', 'backend']) {
    const source = await readFile(join(import.meta.dirname, `${name}.ts`), 'utf8');
    await writeFile(join(folder, `${name}.js`), stripTypeScriptTypes(source));
  }
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort();
  const migrations = files.map((file) => readFile(join(MIGRATIONS, file), 'utf8'));
  await writeFile(join(folder, 'migrations.sql'), (await Promise.all(migrations)).join('\n'));

  const {
    compatibility_date: date,
    compatibility_flags: flags,
    vars,
  } = readConfig({
    config: join(PROJECT_ROOT, 'wrangler.toml'),
    ...(environment !== 'local' && { env: environment }),
  });
  const compatibility = `compatibilityDate = "${date}", compatibilityFlags = ${JSON.stringify(flags)}`;
  const variables = Object.entries(vars).map(
    ([name, value]) => `(name = "${name}", text = ${JSON.stringify(value)}),`,
  );
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  sockets = [(
    name = "http", address = "127.0.0.1:0", service = "store",
    http = (forwardedProtoHeader = "X-Forwarded-Proto"),
  )],
  services = [
    (name = "store", worker = (
      ${compatibility},
      modules = [
        (name = "test/hostile/worker.ts", esModule = embed "worker.js"),
        (name = "src/index.ts", esModule = embed "index.js"),
      ],
      bindings = [
        (name = "DB", wrapped = (
          moduleName = "cloudflare-internal:d1-api",
          innerBindings = [(name = "fetcher", service = (name = "backend", entrypoint = "d1"))],
        )),
        (name = "API_KEYS", kvNamespace = (name = "backend", entrypoint = "kv")),
        (name = "CF_VERSION_METADATA", json = "{\\"id\\":\\"hostile\\",\\"tag\\":\\"\\",\\"timestamp\\":\\"\\"}"),
        (name = "BACKEND", durableObjectNamespace = (className = "Backend", serviceName = "backend")),
        ${variables.join('\n        ')}
      ],
    )),
    (name = "backend", worker = (
      ${compatibility},
      modules = [(name = "backend", esModule = embed "backend.js")],
      durableObjectNamespaces = [
        (className = "Backend", uniqueKey = "backend", enableSql = true, preventEviction = true),
      ],
      durableObjectStorage = (localDisk = "storage"),
      bindings = [
        (name = "BACKEND", durableObjectNamespace = "Backend"),
        (name = "MIGRATIONS", text = embed "migrations.sql"),
      ],
    )),
    (name = "storage", disk = (path = "storage", writable = true)),
  ],
);
`;
  await mkdir(join(folder, 'storage'));
  await writeFile(join(folder, 'config.capnp'), config);
}
