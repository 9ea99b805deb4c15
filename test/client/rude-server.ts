/** A server that behaves as no store should, by the first part of the path. Any page may call it. */
import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll } from 'vitest';

const HEALTH = JSON.stringify({ status: 'ok' });

const BEHAVIOURS: Record<string, (response: ServerResponse) => void> = {
  hangs: () => {},
  resets: (response) => response.destroy(),
  // In the body: before it, some runtimes repeat by themselves.
  breaks: (response) => {
    response.writeHead(200, { 'Content-Length': 1000 });
    response.write(HEALTH, () => response.destroy());
  },
  redirects: (response) => response.writeHead(307, { Location: '/healthy/pets' }).end(),
  'is-endless': (response) => {
    const mebibyte = Buffer.alloc(2 ** 20, ' ');
    const write = () => {
      while (response.write(mebibyte));
    };
    response.on('drain', write);
    write();
  },
  healthy: (response) => response.end(HEALTH),
};
/** The behaviour of the first request to a path; the later ones are answered. */
const ONCE: Record<string, string> = { 'hangs-once': 'hangs', 'breaks-once': 'breaks' };

/** Starts the server for a test file. At `/` it serves an empty page. */
export function startRudeServer(): { url(): string } {
  const seen = new Set<string>();
  const server = createServer(({ method, url = '' }, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Headers', '*, Authorization');
    response.setHeader('Access-Control-Allow-Methods', '*');
    if (url === '/') return response.setHeader('Content-Type', 'text/html').end('<!doctype html>');
    if (method === 'OPTIONS') return response.end();
    const [, name = ''] = url.split('/');
    const isRepeated = seen.has(url);
    seen.add(url);
    return BEHAVIOURS[isRepeated && ONCE[name] ? 'healthy' : (ONCE[name] ?? name)]?.(response);
  });
  let url = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: () => url };
}
