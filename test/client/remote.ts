/** For suites in other runtimes: serves the control of the store over HTTP, and bundles the suite. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import type { Control } from './context.ts';

/** Serves the control, and at `/` an empty page, on a free port of the loopback host. */
export async function serveControl(control: Control): Promise<{ address: string; close(): void }> {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const argument = JSON.parse(Buffer.concat(chunks).toString());
    try {
      if (request.url === '/reset') await control.reset();
      else if (request.url === '/sql') await control.sql(argument);
      else if (request.url === '/fault') await control.fault(argument);
      else if (request.url === '/issueKey') response.write(await control.issueKey(argument));
      response.end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { address: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** Bundles a script that can import the suite from './elsewhere.ts'. */
export async function bundle(script: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles = [] } = await build({
    stdin: { contents: script, loader: 'ts', resolveDir: join(PROJECT_ROOT, 'test/client') },
    bundle: true,
    write: false,
    format: 'esm',
    ...options,
  });
  return outputFiles.map(({ text }) => text).join('');
}
