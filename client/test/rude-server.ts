/** A server that behaves as no store should, by the first part of the path. Any page may call it. */
import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { startStore } from '../../test/support/store.ts';
import type { Addresses } from './suite.ts';

const HEALTH = '{"status":"ok"}';
const MEBIBYTE = Buffer.alloc(2 ** 20, ' ');

const BEHAVIOURS: Record<string, (response: ServerResponse, isRepeated: boolean) => void> = {
  hangs: (response, isRepeated) => {
    if (isRepeated) response.end(HEALTH);
  },
  // Breaks within the body: some runtimes send a request again if it breaks before.
  breaks: (response, isRepeated) => {
    if (isRepeated) return void response.end(HEALTH);
    response.writeHead(200, { 'Content-Length': 1000 });
    response.write(HEALTH, () => response.destroy());
  },
  redirects: (response) => response.writeHead(307, { Location: '/target' }).end(),
  'is-endless': function write(response) {
    while (response.write(MEBIBYTE));
    response.once('drain', () => write(response));
  },
};

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': '*',
  'Access-Control-Allow-Headers': '*, Authorization',
  'Content-Type': 'text/html',
};

/** Starts the store and the rude server for a test file. At `/` the rude server serves an empty page. */
export function startServers(): () => Promise<Addresses> {
  const store = startStore();
  const seen = new Set<string>();
  const server = createServer(({ method, url = '' }, response) => {
    response.setHeaders(new Headers(HEADERS));
    const behaviour = BEHAVIOURS[url.split('/')[1] ?? ''];
    if (!behaviour || method === 'OPTIONS') return void response.end('<!doctype html>');
    behaviour(response, seen.has(url));
    seen.add(url);
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return async () => {
    const { port } = Object(server.address());
    const apiKey = await store.issueKey();
    return {
      store: `${store.url()}/v1`,
      rude: `http://127.0.0.1:${port}`,
      // Nothing listens on this port, and no runtime forbids it.
      refusing: 'http://127.0.0.1:2',
      apiKey,
    };
  };
}
