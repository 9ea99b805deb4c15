/** The fake's uploads of static assets. https://developers.cloudflare.com/workers/static-assets/direct-upload/ */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { form, json, ok, type Route, text } from './api.ts';

export type FakeAssets = {
  routes: Route[];
  /** The content of the files of an upload session, by path. */
  of(session: string): Record<string, Buffer>;
};

const Session = z.object({ manifest: z.record(z.string(), z.object({ hash: z.string() })) });

export function fakeAssets(): FakeAssets {
  /** By their hash, from all sessions. */
  const contents = new Map<string, Buffer>();
  /** Hashes by path, by the token of the session. */
  const sessions = new Map<string, [path: string, hash: string][]>();

  return {
    of: (session) =>
      Object.fromEntries(
        (sessions.get(session) ?? []).map(([path, hash]) => [
          path,
          contents.get(hash) ?? Buffer.of(),
        ]),
      ),
    routes: [
      [
        /^POST \/workers\/scripts\/([^/]+)\/assets-upload-session$/,
        (call) => {
          const jwt = randomUUID();
          const paths = Object.entries(json(call, Session).manifest);
          sessions.set(
            jwt,
            paths.map(([path, { hash }]) => [path, hash]),
          );
          const wanted = paths.map(([, { hash }]) => hash).filter((hash) => !contents.has(hash));
          return ok({ jwt, buckets: wanted.length > 0 ? [[...new Set(wanted)]] : [] });
        },
      ],
      [
        /^POST \/workers\/assets\/upload$/,
        async (call) => {
          for (const [hash, content] of await form(call)) {
            contents.set(hash, Buffer.from(await text(content), 'base64'));
          }
          return ok({ jwt: [...sessions.keys()].at(-1) }, 201);
        },
      ],
    ],
  };
}
