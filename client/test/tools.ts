/** What users and bundlers do with the package. */
import { exec } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { EXAMPLES } from './documents.ts';

/** Bundles a script that can import './suite.ts'. */
export async function bundle(contents: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles = [] } = await build({
    stdin: { contents, loader: 'ts', resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'esm',
    ...options,
  });
  return outputFiles.map(({ text }) => text).join('');
}

export const NODE = `"${process.execPath}"`;

/** Runs a command line. */
export function run(command: string, cwd = PROJECT_ROOT) {
  return new Promise<{ status: unknown; stdout: string; stderr: string }>((resolve) => {
    exec(command, { cwd }, (error, stdout, stderr) =>
      resolve({ status: error?.code ?? 0, stdout, stderr }),
    );
  });
}

/** Installs packages into a project of its own. */
export async function install(folder: string, packages: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const options = '--no-workspaces --prefer-offline --ignore-scripts --no-audit --loglevel=error';
  const { status, stderr } = await run(`npm install ${options} ${packages}`, folder);
  if (status !== 0) throw new Error(stderr);
}

/** A user's project with the packed client, for a test file. It finds other packages in node_modules above it. */
export function installClient() {
  const folder = mkdtempSync(join(PROJECT_ROOT, 'node_modules/.consumer-'));
  beforeAll(async () => {
    const options = `--silent -- --json --pack-destination "${folder}"`;
    const [packed] = JSON.parse((await run(`npm run client:pack ${options}`)).stdout);
    await install(folder, `./${packed.filename}`);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs a program in a user's project. */
export async function runIn(folder: string, program: string, command = NODE, argument = '') {
  writeFileSync(join(folder, 'program.mjs'), await bundle(program, { packages: 'external' }));
  return run(`${command} program.mjs ${argument}`, folder);
}

/** What the compiler prints about the examples in a user's project. */
export async function compile(folder: string, options: object): Promise<string> {
  const strict = { target: 'ES2022', strict: true, exactOptionalPropertyTypes: true, noEmit: true };
  const compilerOptions = { ...strict, lib: ['ES2022'], module: 'NodeNext', ...options };
  const config = { compilerOptions, files: ['examples.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'examples.ts'), EXAMPLES);
  const compiler = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  return (await run(`${NODE} "${compiler}"`, folder)).stdout;
}
