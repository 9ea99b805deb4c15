/**
 * `npm run openapi`: writes the OpenAPI description, the client's types, and the copies of Swagger
 * UI for the docs page.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeApi, type Server } from '../openapi/document.ts';
import { findResources } from '../openapi/resources.ts';
import packageJson from '../package.json' with { type: 'json' };
import { VERSION_PATH } from '../src/http/urls.ts';
import { createProgram, type DeployedEnvironment, run } from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { readConfig } from './command/wrangler.ts';

/**
 * Files that are copied unchanged. The source map of `swagger-ui.css` is left out: browsers request
 * it only for developer tools.
 */
const SWAGGER_UI = [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
];

/** The client's own script, which reads the written description. */
const CLIENT = join(PROJECT_ROOT, 'client/generate.ts');

export const program = createProgram(
  'npm run openapi --',
  "Writes the OpenAPI description, the client's types, and the copies of Swagger UI for the docs page.",
)
  .option('--check', 'write nothing, and fail if the description or a copy is out of date')
  .action(async (options: { check?: boolean }) => {
    for (const [path, content] of await generatedFiles()) {
      const file = join(PROJECT_ROOT, path);
      const current = await readFile(file, 'utf8').catch(() => undefined);
      if (current === content) continue;
      if (options.check) throw new Error(`${path} is out of date. Run: npm run openapi`);
      await writeFile(file, content);
      console.log(`${path} is written.`);
    }
    // A check leaves the client's types to `npm test`.
    if (!options.check) execFileSync(process.execPath, [CLIENT], { stdio: 'inherit' });
    console.log('The OpenAPI description and the copies of Swagger UI are up to date.');
  });

if (import.meta.main) await run(program);

/** The contents of the generated files and copies, by their paths. */
async function generatedFiles(): Promise<Map<string, string>> {
  const resources = await findResources();
  const description = describeApi(await readServers(), resources, packageJson.version);
  const json = `${escaped(JSON.stringify(description, null, 2))}\n`;
  const files = new Map([['public/openapi.json', json]]);
  for (const name of SWAGGER_UI) {
    const path = join(PROJECT_ROOT, 'node_modules/swagger-ui-dist', name);
    const copy = name.startsWith('swagger-ui') ? name : `swagger-ui-${name}.txt`;
    files.set(`public/docs/${copy}`, await readFile(path, 'utf8'));
  }
  return files;
}

/**
 * Escapes characters that a reader of the JSON may not see, such as the zero width space in the
 * pattern of a name.
 */
function escaped(json: string): string {
  return json.replaceAll(
    /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Production first, because generated clients use the first server by default. */
async function readServers(): Promise<Server[]> {
  const urlOf = async (env: DeployedEnvironment) => String((await readConfig(env)).vars.BASE_URL);
  const local = `http://localhost:8787${VERSION_PATH}`;
  return [
    { url: await urlOf('production'), description: 'Production', 'x-internal': false },
    { url: await urlOf('staging'), description: 'Staging', 'x-internal': true },
    { url: local, description: 'Local development', 'x-internal': true },
  ];
}
