/**
 * `npm run openapi`: writes the generated files: the description of the interface, and the copies of Swagger UI that the
 * docs page loads. With `--check` it only checks that they are up to date.
 */
import { globSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { unstable_readConfig as readConfig } from 'wrangler';
import type { ResourceDescription } from '../openapi/describe.ts';
import { describeApi, type Server } from '../openapi/document.ts';
import packageJson from '../package.json' with { type: 'json' };
import { PROJECT_ROOT } from './wrangler.ts';

declare global {
  interface JSON {
    /** TypeScript's library lacks it: https://tc39.es/proposal-json-parse-with-source/ */
    rawJSON(text: string): unknown;
  }
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const files = new Map<string, string>([
  [
    'public/v1/openapi.json',
    `${JSON.stringify(describeApi(servers(), await resources(), packageJson.version), exactRange, 2)}\n`,
  ],
]);
/** Apache-2.0, section 4(b): a changed file carries a prominent notice that says so. */
const NOTICE =
  '/*! Changed for the animal store: the comment that names the source map is removed. Swagger UI, Apache-2.0: see swagger-ui-LICENSE.txt and swagger-ui-NOTICE.txt. */\n';
const SWAGGER_UI = {
  'swagger-ui-bundle.js': 'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt': 'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css': 'swagger-ui.css',
  LICENSE: 'swagger-ui-LICENSE.txt',
  NOTICE: 'swagger-ui-NOTICE.txt',
};
for (const [name, copy] of Object.entries(SWAGGER_UI)) {
  const original = await readFile(join(PROJECT_ROOT, 'node_modules/swagger-ui-dist', name), 'utf8');
  // The source maps that the comments name are not served.
  const changed = original.replaceAll(/^(\/\/|\/\*)# sourceMappingURL=.*$/gm, '');
  files.set(`public/docs/${copy}`, changed === original ? original : `${NOTICE}${changed}`);
}

for (const [name, content] of files) {
  const path = join(PROJECT_ROOT, name);
  if (values.check) {
    if ((await readFile(path, 'utf8').catch(() => undefined)) === content) continue;
    console.error(`${name} is out of date. Run: npm run openapi`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

/** The descriptions of the resources, in reverse order: pets first, the health check last. */
async function resources(): Promise<ResourceDescription[]> {
  const files = globSync('openapi/resources/*.ts', { cwd: PROJECT_ROOT }).sort().toReversed();
  const modules: Promise<{ resource: ResourceDescription }>[] = files.map(
    (file) => import(pathToFileURL(join(PROJECT_ROOT, file)).href),
  );
  return (await Promise.all(modules)).map(({ resource }) => resource);
}

/** Production first, because generated clients use the first server by default. */
function servers(): Server[] {
  const deployed = ['production', 'staging'].map((env) => {
    const { vars } = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml'), env });
    return {
      url: String(vars.BASE_URL),
      description: env === 'production' ? 'Production' : 'Staging',
      'x-internal': env !== 'production',
    };
  });
  const url = 'http://localhost:8787/v1';
  return [...deployed, { url, description: 'Local development', 'x-internal': true }];
}

/**
 * A replacer for JSON.stringify that adds the exact range to int64 schemas. A tool that reads numbers as doubles rounds
 * the maximum and the greatest value to the same number, so it still accepts the value.
 */
function exactRange(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('format' in value)) return value;
  if (value.format !== 'int64') return value;
  const [minimum, maximum] = [-(2n ** 63n), 2n ** 63n - 1n].map((bound) =>
    JSON.rawJSON(String(bound)),
  );
  return { ...value, minimum, maximum };
}
