/** `npm run openapi`: writes the description of the interface, and what is made from it or copied beside it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import { describeApi, type Server } from '../openapi/document.ts';
import { resource as health } from '../openapi/resources/health.ts';
import { resource as orders } from '../openapi/resources/orders.ts';
import { resource as pets } from '../openapi/resources/pets.ts';
import packageJson from '../package.json' with { type: 'json' };
import { createProgram, run } from './command-line.ts';
import { PROJECT_ROOT } from './wrangler.ts';

/** In the order of the docs page. */
const RESOURCES = [pets, orders, health];

declare global {
  interface JSON {
    /** TypeScript's library lacks it: https://tc39.es/proposal-json-parse-with-source/ */
    rawJSON(text: string): unknown;
  }
}

/** Apache-2.0, section 4(b): a changed file carries a prominent notice that says so. */
const NOTICE =
  '/*! Changed for the animal store: the comment that names the source map is removed. Swagger UI, Apache-2.0: see swagger-ui-LICENSE.txt and swagger-ui-NOTICE.txt. */\n';
const SWAGGER_UI = [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
];

const program = createProgram(
  'npm run openapi --',
  "Writes the OpenAPI description, the client's types, and the copies of Swagger UI for the docs page.",
)
  .option('--check', 'write nothing, and fail if a file is out of date')
  .action(async ({ check }: { check?: boolean }) => {
    for (const [name, content] of await generatedFiles()) {
      const path = join(PROJECT_ROOT, name);
      if (content === (await readFile(path, 'utf8').catch(() => undefined))) continue;
      if (check) throw new Error(`${name} is out of date. Run: npm run openapi`);
      await writeFile(path, content);
      console.log(`${name} is written.`);
    }
    // Reads the description from its file, and knows --check, too.
    await import('../client/generate.ts');
    if (!process.exitCode)
      console.log('The description and the files made from it are up to date.');
  });

await run(program);

/** The generated files: their paths and contents. */
async function generatedFiles(): Promise<Map<string, string>> {
  const description = describeApi(servers(), RESOURCES, packageJson.version);
  const json = `${JSON.stringify(description, exactRange, 2)}\n`;
  const files = new Map([['public/v1/openapi.json', json]]);
  for (const name of SWAGGER_UI) {
    const path = join(PROJECT_ROOT, 'node_modules/swagger-ui-dist', name);
    const original = await readFile(path, 'utf8');
    // The source maps that the comments name are not served.
    const changed = original.replaceAll(/^(\/\/|\/\*)# sourceMappingURL=.*$/gm, '');
    const copy = name.startsWith('swagger-ui') ? name : `swagger-ui-${name}.txt`;
    files.set(`public/docs/${copy}`, changed === original ? original : `${NOTICE}${changed}`);
  }
  return files;
}

/** Production first, because generated clients use the first server by default. */
function servers(): Server[] {
  const deployed = ['production', 'staging'].map((env) => {
    const { vars } = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml'), env });
    const description = env === 'production' ? 'Production' : 'Staging';
    return { url: String(vars.BASE_URL), description, 'x-internal': env !== 'production' };
  });
  const url = 'http://localhost:8787/v1';
  return [...deployed, { url, description: 'Local development', 'x-internal': true }];
}

/**
 * A replacer for JSON.stringify that adds the exact range to int64 schemas. A tool that reads numbers as doubles rounds
 * the maximum and the greatest value to the same number, so it still accepts the value.
 */
function exactRange(_: string, value: unknown): unknown {
  const isInt64 = value instanceof Object && 'format' in value && value.format === 'int64';
  if (!isInt64) return value;
  const minimum = JSON.rawJSON(String(-(2n ** 63n)));
  return { ...value, minimum, maximum: JSON.rawJSON(String(2n ** 63n - 1n)) };
}
