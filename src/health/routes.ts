import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { operation } from '../operation/operation.ts';

export const health = new Hono<AppEnv>().get(
  '/health',
  operation({ operationId: 'getHealth', public: true }),
  (c) =>
    c.json(
      {
        status: 'ok',
        environment: c.env.ENVIRONMENT,
        version: c.env.CF_VERSION_METADATA.id,
      },
      200,
    ),
);
