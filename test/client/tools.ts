/** What users and bundlers do with the package. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

/** Bundles a script that can import './suite.ts'. */
export async function bundle(contents: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles = [] } = await build({
    stdin: { contents, loader: 'tsx', resolveDir: join(PROJECT_ROOT, 'test/client') },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    ...options,
  });
  return outputFiles.map(({ text }) => text).join('');
}

/** Runs npm at the root of the repository, and returns what it prints. */
export function runNpm(...args: string[]): string {
  const path = process.env.npm_execpath;
  const [command, first] = path ? [process.execPath, [path]] : ['npm', []];
  const { status, stdout, stderr } = spawnSync(command, [...first, ...args, '--loglevel=error'], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Builds and packs the client as README.md says, and returns the paths of the package and of its files. */
export function packClient(folder: string): { path: string; files: string[] } {
  const options = ['--silent', '--', '--json', '--pack-destination', folder];
  const [packed] = JSON.parse(runNpm('run', 'client:pack', ...options));
  const files = packed.files.map((file: { path: string }) => file.path);
  return { path: join(folder, packed.filename), files };
}

/** Installs packages into a project of its own. */
export function installInto(folder: string, ...packages: string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const options = ['--no-workspaces', '--prefer-offline', '--ignore-scripts', '--no-audit'];
  runNpm('install', ...options, '--prefix', folder, ...packages);
}

const STRICT = { target: 'ES2022', strict: true, exactOptionalPropertyTypes: true, noEmit: true };

/** What a compiler, whose package is in a folder of the repository, prints about a program in a user's project. */
export function compile(typescript: string, folder: string, options: object, program: string) {
  const compilerOptions = { ...STRICT, module: 'NodeNext', skipLibCheck: false, ...options };
  const config = { compilerOptions, files: ['consumer.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'consumer.ts'), program);
  const tsc = join(PROJECT_ROOT, typescript, 'bin/tsc');
  return spawnSync(process.execPath, [tsc, '--project', folder], { encoding: 'utf8' }).stdout;
}
