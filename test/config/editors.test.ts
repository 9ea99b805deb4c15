/**
 * Editors ask the compiler's language server. Its API answers the same question without the protocol: it finds the project of each
 * file by the nearest tsconfig.json.
 */
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { API } from 'typescript/unstable/sync';
import { expect, onTestFinished, test } from 'vitest';

const FILES = globSync(['*.ts', '{bench,client,openapi,ops,src,test}/**/*.{ts,mjs}'], {
  exclude: ['**/node_modules', '**/dist'],
});

test('every file opens in an editor without an error', () => {
  const server = new API();
  onTestFinished(() => server.close());
  const openFiles = FILES.map((file) => resolve(file));
  const opened = server.updateSnapshot({ openFiles });
  for (const file of openFiles) {
    const program = opened.getDefaultProjectForFile(file)?.program;
    expect(program?.getSemanticDiagnostics(file), file).toEqual([]);
  }
});
